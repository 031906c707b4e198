import { element } from '../dom/element.js';
import { isRange, type Condition, type Field, type Range, type Rules } from '../rules/rules.js';
import { countOf } from '../text/numbers.js';
import type { ChoiceField, LearnedField, NumberField } from './learn.js';

/** Maximum number of values to choose from; a longer list would be hard to scan. */
const MOST_VALUES = 12;

export const labelOf = (field: Field): string => field ?? 'category';
/** Prefixes property names, because one may be called `category`. */
const idOf = (field: Field) => (field === null ? 'category' : `property ${field}`);

/** The rules with a replaced condition on a field; undefined removes it. */
function withCondition(rules: Rules, field: Field, condition: Condition | undefined): Rules {
  const others = rules.conditions.filter((each) => each.field !== field);
  return { ...rules, conditions: condition ? [...others, condition] : others };
}

/** Two inputs for the ends of a range; an empty input leaves that end open. */
export function rangeInputs(
  { field, least, greatest }: NumberField,
  rules: Rules,
  onSet: (rules: Rules) => void,
): HTMLElement {
  const current = rules.conditions.find((each): each is Range => isRange(each) && each.field === field);
  const input = (label: string, end: number, value: number | undefined) => {
    const made = element('input', {
      type: 'number',
      step: 'any',
      placeholder: String(end),
      'aria-label': `${field} ${label}`,
      'data-key': `${field} ${label}`,
    });
    if (value !== undefined && Number.isFinite(value)) made.value = String(value);
    return made;
  };
  const [from, to] = [input('from', least, current?.from), input('to', greatest, current?.to)];
  const read = () => {
    const range = {
      field,
      from: Number.isNaN(from.valueAsNumber) ? -Infinity : from.valueAsNumber,
      to: Number.isNaN(to.valueAsNumber) ? Infinity : to.valueAsNumber,
    };
    to.setCustomValidity(range.from > range.to ? 'The maximum is less than the minimum.' : '');
    if (!to.reportValidity()) return;
    const isOpen = range.from === -Infinity && range.to === Infinity;
    onSet(withCondition(rules, field, isOpen ? undefined : range));
  };
  for (const each of [from, to]) each.addEventListener('change', read);
  return element('div', { class: 'range' }, from, element('span', {}, 'to'), to);
}

/** A checkbox for each value; if none is checked, all values match. */
export function checkboxes({ field, values }: ChoiceField, rules: Rules, onSet: (rules: Rules) => void): HTMLElement[] {
  const current = rules.conditions.find((each) => !isRange(each) && each.field === field);
  const chosen = current && !isRange(current) ? current.values : [];
  const counts = new Map([...values.slice(0, MOST_VALUES), ...values.filter(([value]) => chosen.includes(value))]);
  const shown = [...counts, ...chosen.filter((value) => !counts.has(value)).map((value) => [value, 0] as const)];
  const rows = shown.map(([value, count]) => {
    const box = element('input', { type: 'checkbox', 'data-key': `${idOf(field)} ${value}` });
    box.checked = chosen.includes(value);
    box.addEventListener('change', () => {
      const next = box.checked ? [...chosen, value] : chosen.filter((each) => each !== value);
      onSet(withCondition(rules, field, next.length > 0 ? { field, values: next } : undefined));
    });
    return element('label', {}, box, element('span', {}, value), element('small', {}, String(count)));
  });
  const rest = values.length - Math.min(values.length, MOST_VALUES);
  return [...rows, ...(rest > 0 ? [element('small', {}, `and ${countOf(rest, 'other value')}`)] : [])];
}

/** A select for a field, or none. */
export function fieldSelect(
  label: string,
  fields: readonly LearnedField[],
  current: Field | undefined,
  onPick: (field: LearnedField | undefined) => void,
): HTMLElement {
  const known = fields.map(({ field }) => field);
  const all = current === undefined || known.includes(current) ? known : [...known, current];
  const options = all.map((field) => element('option', { value: idOf(field) }, labelOf(field)));
  const select = element('select', { 'data-key': label }, element('option', { value: '' }, 'None'), ...options);
  select.value = current === undefined ? '' : idOf(current);
  select.addEventListener('change', () => onPick(fields.find(({ field }) => idOf(field) === select.value)));
  return element('label', { class: 'by' }, label, select);
}
