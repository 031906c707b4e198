import type { Collection } from '../api/documents.js';
import { mayCreate, mayWrite } from '../api/permissions.js';
import { element } from '../dom/element.js';
import { collectionFields, createCollection, nameOf } from './collection-fields.js';

/** Inputs for the target of an import. */
export interface TargetFields {
  readonly elements: readonly HTMLElement[];
  /** The key of the collection, which is created if it is new. Rejects with ViewportError. */
  open(onCreate: (collection: Collection) => void): Promise<string>;
}

/** The proposed key for a file's collection. */
export const keyFor = (file: File): string => collectionFields(nameOf(file.name)).value.key;

/** Inputs for a file's target: a new collection, or an existing one whose keys are chosen by clients. */
export function targetFields(file: File, collections: readonly Collection[]): TargetFields {
  const fields = collectionFields(nameOf(file.name));
  const fresh = element('div', {}, ...fields.elements);
  const existing = collections.filter(({ key, idStrategy }) => idStrategy === 'GIVEN' && mayWrite(key));
  const choices = existing.map(({ key, name }) => element('option', { value: key }, name));
  const isNew = mayCreate() || choices.length === 0 ? [element('option', { value: '' }, 'A new collection')] : [];
  const select = element('select', { name: 'target' }, ...isNew, ...choices);
  select.value = existing.find(({ key }) => key === fields.value.key)?.key ?? (isNew.length > 0 ? '' : select.value);
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
      // A repeated import finds the collection that it created.
      select.append(element('option', { value: made.key }, made.name));
      select.value = made.key;
      follow();
      return made.key;
    },
  };
}
