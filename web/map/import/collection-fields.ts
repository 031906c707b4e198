import { ViewportError } from '../../../src/client/public.js';
import { CREATE_COLLECTION, type Collection } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { element } from '../dom/element.js';

/** Letters that do not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = { ł: 'l', đ: 'd', ø: 'o', ß: 'ss', æ: 'ae', œ: 'oe' };

/** Makes a valid key from a name or file name; `places` if no allowed characters are left. */
export function keyOf(name: string): string {
  const plain = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łđøßæœ]/g, (letter) => LETTERS[letter] ?? '');
  const key = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '');
  return key.slice(0, 63).replace(/-+$/, '') || 'places';
}

/** Makes a display name from a file name. */
export function nameOf(file: string): string {
  const words = file
    .replace(/(\.[a-z]+)+$/i, '')
    .replace(/[_-]+/g, ' ')
    .trim();
  return words === '' ? 'Places' : words[0]?.toUpperCase() + words.slice(1);
}

export interface CollectionFields {
  readonly elements: readonly HTMLElement[];
  readonly name: HTMLInputElement;
  readonly value: { readonly name: string; readonly key: string };
}

/** Inputs for the name and key of a new collection; the key follows the name until the user edits it. */
export function collectionFields(proposed: string): CollectionFields {
  const name = element('input', { name: 'name', required: '', maxlength: '200', autocomplete: 'off' });
  const key = element('input', {
    name: 'key',
    required: '',
    pattern: '[a-z0-9][a-z0-9_\\-]{0,62}',
    title: '1 to 63 characters of a-z, 0-9, _ and -, starting with a letter or digit',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  let isOwn = false;
  name.value = proposed;
  key.value = proposed === '' ? '' : keyOf(proposed);
  name.addEventListener('input', () => {
    if (!isOwn) key.value = keyOf(name.value);
  });
  key.addEventListener('input', () => (isOwn = true));
  return {
    elements: [
      element('label', {}, 'Name', name),
      element('label', {}, 'Key, used in queries; cannot be changed later', key),
    ],
    name,
    get value() {
      return { name: name.value.trim(), key: key.value };
    },
  };
}

/** Creates a collection. Rejects with ViewportError. */
export async function createCollection(input: { readonly name: string; readonly key: string }): Promise<Collection> {
  const made = await request<{ readonly createCollection: Collection }>(CREATE_COLLECTION, { input });
  return made.createCollection;
}

const REFUSED_CODES = new Set(['UNAUTHENTICATED', 'UNAUTHORIZED', 'FORBIDDEN']);

/** The message for a failed write. */
export function refusal(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ViewportError) || !REFUSED_CODES.has(error.code)) return message;
  return `This server does not accept changes: ${message}`;
}
