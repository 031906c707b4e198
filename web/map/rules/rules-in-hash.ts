import { isRange, NO_RULES, type Condition, type Field, type Range, type Rules } from './rules.js';

// `range=COLLECTION/PROPERTY/FROM..TO`, `only=COLLECTION/PROPERTY/VALUE,…`, `shade=` and `size=` like `range`,
// `color=` like `only`. Without a property, the rule is for the category. Parts contain no `/` or `,`: these and `%`
// are escaped once more.

const escape = (text: string) => text.replaceAll(/[%/,]/g, encodeURIComponent);
const unescape = (text: string) => text.replaceAll(/%25|%2F|%2C/g, decodeURIComponent);
const number = (text: string, open: number) => (text === '' ? open : Number(text));
const bound = (value: number) => (Number.isFinite(value) ? String(value) : '');

function readRange(path: readonly string[]): Range | undefined {
  const [field, text = ''] = path;
  const [from = '', to = '', ...more] = text.split('..');
  const range = { field: field ?? '', from: number(from, -Infinity), to: number(to, Infinity) };
  return path.length === 2 && text.includes('..') && more.length === 0 && range.from <= range.to ? range : undefined;
}

function readChoice(path: readonly string[], values: readonly string[]): Condition | undefined {
  const field: Field | undefined = path.length === 2 ? (path[0] ?? '') : path.length === 1 ? null : undefined;
  return field === undefined || values.length === 0 ? undefined : { field, values };
}

const KINDS = ['range', 'only', 'shade', 'color', 'size'] as const;
type Kind = (typeof KINDS)[number];

function readRule(rules: Rules, kind: Kind, segments: readonly string[]): Rules {
  const path = segments.map(unescape);
  const isNumeric = kind === 'range' || kind === 'shade' || kind === 'size';
  const values = (segments.at(-1) ?? '').split(',').map(unescape);
  const rule = isNumeric ? readRange(path) : readChoice(path, values);
  if (rule === undefined) return rules;
  if (kind === 'range' || kind === 'only') return { ...rules, conditions: [...rules.conditions, rule] };
  // A scale needs both ends.
  if (isRange(rule) && !(Number.isFinite(rule.from) && Number.isFinite(rule.to))) return rules;
  if (kind === 'size') return isRange(rule) ? { ...rules, size: rule } : rules;
  return { ...rules, color: rule };
}

/** The rules in the parts of a hash, by collection; invalid ones are ignored. */
export function readRules(parts: URLSearchParams): ReadonlyMap<string, Rules> {
  const byCollection = new Map<string, Rules>();
  for (const [name, text] of parts) {
    const kind = KINDS.find((each) => each === name);
    const [key = '', ...segments] = text.split('/');
    if (kind === undefined || key === '') continue;
    const before = byCollection.get(unescape(key)) ?? NO_RULES;
    const rules = readRule(before, kind, segments);
    if (rules !== before) byCollection.set(unescape(key), rules);
  }
  return byCollection;
}

function pathOf(key: string, rule: Condition): string {
  const parts = [key, ...(rule.field === null ? [] : [rule.field])].map(escape);
  const last = isRange(rule) ? `${bound(rule.from)}..${bound(rule.to)}` : rule.values.map(escape).join(',');
  return encodeURIComponent([...parts, last].join('/'))
    .replaceAll('%2F', '/')
    .replaceAll('%2C', ',');
}

/** The parts of a hash for these rules. */
export function writeRules(byCollection: ReadonlyMap<string, Rules>): string[] {
  return [...byCollection].flatMap(([key, { conditions, color, size }]) => {
    const part = (kind: Kind, rule: Condition) => `${kind}=${pathOf(key, rule)}`;
    return [
      ...conditions.map((each) => part(isRange(each) ? 'range' : 'only', each)),
      ...(color ? [part(isRange(color) ? 'shade' : 'color', color)] : []),
      ...(size ? [part('size', size)] : []),
    ];
  });
}
