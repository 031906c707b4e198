import { fits, isWellFormed, KEY_BYTES, type KeyRole } from './escape.js';

/** The primary key of an item in either table. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** `<pk>#<sk>`: the ID of an item outside DynamoDB, for example in a search index. */
export function documentId(key: Key): string {
  return `${key.pk}#${key.sk}`;
}

/** The key in a document ID, split at the last `#` (sort keys have none); undefined for any other text. */
export function parseDocumentId(id: string): Key | undefined {
  const cut = id.lastIndexOf('#');
  const key = { pk: id.slice(0, Math.max(cut, 0)), sk: id.slice(cut + 1) };
  return cut > 0 && isKey(key.pk, 'partition') && isKey(key.sk, 'sort') ? key : undefined;
}

function isKey(text: string, role: KeyRole): boolean {
  return text !== '' && isWellFormed(text) && fits(text, KEY_BYTES[role]);
}
