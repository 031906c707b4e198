import type { Collection } from '../documents.js';
import { element } from '../element.js';
import { collectionFields, createCollection, nameOf } from './collection-fields.js';

/** Where a file goes. */
export interface TargetFields {
  readonly elements: readonly HTMLElement[];
  /** The key of the collection, which is created if it is a new one. Rejects with ViewportError. */
  open(onCreate: (collection: Collection) => void): Promise<string>;
}

/** The key that is proposed for a file's collection. */
export const keyFor = (file: File): string => collectionFields(nameOf(file.name)).value.key;

/** Inputs for where a file goes: a new collection, or one whose keys are given. */
export function targetFields(file: File, collections: readonly Collection[]): TargetFields {
  const fields = collectionFields(nameOf(file.name));
  const fresh = element('div', {}, ...fields.elements);
  const existing = collections.filter(({ idStrategy }) => idStrategy === 'GIVEN');
  const choices = existing.map(({ key, name }) => element('option', { value: key }, name));
  const select = element('select', { name: 'target' }, element('option', { value: '' }, 'A new collection'), ...choices); // prettier-ignore
  select.value = existing.find(({ key }) => key === fields.value.key)?.key ?? '';
  const follow = () => {
    fresh.hidden = select.value !== '';
    for (const input of fresh.querySelectorAll('input')) input.disabled = fresh.hidden;
  };
  select.addEventListener('change', follow);
  follow();
  const label = element('label', {}, 'Into', select);
  return {
    elements: choices.length > 0 ? [label, fresh] : [fresh],
    async open(onCreate) {
      if (select.value !== '') return select.value;
      const made = await createCollection(fields.value);
      onCreate(made);
      // An import that is continued finds its collection.
      select.append(element('option', { value: made.key }, made.name));
      select.value = made.key;
      follow();
      return made.key;
    },
  };
}
