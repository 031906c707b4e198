import { v5 as uuidOf } from 'uuid';

import { InvalidRow, isFields } from './fields.js';

/** The namespace of these UUIDs. With any other, rows imported before would get new keys. */
const NAMESPACE = 'a8f1c1f0-6c52-4b3e-9d0b-5f0c6a2f7e31';

/** Fields that every parsed row has. */
export interface Keyed {
  readonly key: string;
  /** Present if the row has no key: `key` is then derived from its content. */
  readonly keyFromContent?: true;
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON that does not depend on the order of members. Throws InvalidRow. */
function canonical(content: unknown): string {
  try {
    return JSON.stringify(content, inOrder);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidRow('it is nested too deeply');
    throw error;
  }
}

/**
 * Adds the key to a row or, if it has none, a version 5 UUID derived from its content: the same content always gets the
 * same key, whatever the file format and the order of rows and fields. Throws InvalidRow.
 */
export function withKey<C extends object>(key: string | undefined, content: C): C & Keyed {
  if (key !== undefined) return { key, ...content };
  // As bytes: the package's own encoding of text takes several times its size.
  const name = new TextEncoder().encode(canonical(content));
  return { key: uuidOf(name, NAMESPACE), keyFromContent: true, ...content };
}
