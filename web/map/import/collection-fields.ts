import { ViewportError } from '../../../src/client/public.js';
import { CREATE_COLLECTION, type Collection } from '../documents.js';
import { element } from '../element.js';
import { request } from '../graphql.js';

/** Letters that are no base letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = { ł: 'l', đ: 'd', ø: 'o', ß: 'ss', æ: 'ae', œ: 'oe' };

/** A key made from a name or the name of a file: what the API allows, `places` if nothing of it is left. */
export function keyOf(name: string): string {
  const plain = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łđøßæœ]/g, (letter) => LETTERS[letter] ?? '');
  const key = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+/, '');
  return key.slice(0, 63).replace(/-+$/, '') || 'places';
}

/** A name made from that of a file. */
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

/** Inputs for the name and key of a new collection; the key follows the name until it is changed. */
export function collectionFields(proposed: string): CollectionFields {
  const name = element('input', { name: 'name', required: '', maxlength: '200', autocomplete: 'off' });
  const key = element('input', {
    name: 'key',
    required: '',
    pattern: '[a-z0-9][a-z0-9_\\-]{0,62}',
    title: '1 to 63 of a-z, 0-9, _ and -, beginning with a letter or digit',
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
    elements: [element('label', {}, 'Name', name), element('label', {}, 'Key, for queries; it never changes', key)],
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

/** The message about a write that failed. */
export function refusal(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ViewportError) || !REFUSED_CODES.has(error.code)) return message;
  return `This server does not accept changes: ${message}`;
}
