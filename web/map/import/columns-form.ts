import { element } from '../dom/element.js';
import type { Choice, Columns } from './columns.js';

type Part = keyof Choice;

const LABELS: Readonly<Record<Part, string>> = {
  lat: 'Latitude',
  lng: 'Longitude',
  key: 'Key',
  name: 'Name',
  category: 'Category',
};

/** The meaning of choosing no column. */
function labelOfNone(part: Part, { holdPosition }: Columns): string {
  if (part === 'lat' || part === 'lng') return 'Choose …';
  if (part === 'key') return holdPosition ? 'Derived from content' : "The feature's id";
  return 'None';
}

export interface ColumnsForm {
  readonly element: HTMLDetailsElement;
  readonly choice: Choice;
  /** Name of a required choice that is still missing. */
  readonly missing: string | undefined;
  /** Opens the form at its first part. */
  ask(): void;
}

/** A form to choose a file's columns, starting with those detected. Calls `onChange` after each choice. */
export function columnsForm(columns: Columns, onChange: () => void): ColumnsForm {
  const { noun, names, holdPosition, found } = columns;
  const parts = (Object.keys(LABELS) as Part[]).filter((part) => holdPosition || (part !== 'lat' && part !== 'lng'));
  const selects = new Map<Part, HTMLSelectElement>();
  const summary = element('summary');
  const labels = parts.map((part): HTMLElement => {
    const none = element('option', { value: '' }, labelOfNone(part, columns));
    const isOptional = found[part] === '' || part === 'name' || part === 'category';
    const options = names.map((name) => element('option', { value: name }, name));
    const select = element('select', {}, ...(isOptional ? [none] : []), ...options);
    select.value = found[part];
    selects.set(part, select);
    return element('label', {}, `${LABELS[part]} ${noun}`, select);
  });
  const chosen = (part: Part) => selects.get(part)?.value ?? '';
  const describe = () => {
    const used = parts
      .filter((part) => chosen(part) !== '')
      .map((part) => `${LABELS[part].toLowerCase()} from ${chosen(part)}`);
    const title = noun === 'column' ? 'Columns' : 'Properties';
    summary.textContent = [title, used.join(', ')].filter((text) => text !== '').join(': ');
  };
  const both = element('p', {}, `If one ${noun} holds both coordinates, choose it for both.`);
  const content = holdPosition ? labels.toSpliced(2, 0, both) : labels;
  const form = element('details', { class: 'columns' }, summary, element('div', {}, ...content));
  form.addEventListener('change', () => {
    describe();
    onChange();
  });
  describe();
  return {
    element: form,
    get choice() {
      return { lat: chosen('lat'), lng: chosen('lng'), key: chosen('key'), name: chosen('name'), category: chosen('category') }; // prettier-ignore
    },
    get missing() {
      if ((chosen('lat') === '') === (chosen('lng') === '')) return undefined;
      return `${chosen('lat') === '' ? 'latitude' : 'longitude'} ${noun}`;
    },
    ask() {
      form.open = true;
      form.querySelector('select')?.focus();
    },
  };
}
