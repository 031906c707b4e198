import { v5 as uuidOf } from 'uuid';

import { InvalidRow, isFields } from './fields.js';

/** The namespace of these UUIDs. Another one would give every row of files imported before another key. */
const NAMESPACE = 'a8f1c1f0-6c52-4b3e-9d0b-5f0c6a2f7e31';

/** What every row has once it is read. */
export interface Keyed {
  readonly key: string;
  /** Present if the row brings no key: `key` is made from its content. */
  readonly keyFromContent?: true;
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON in which the order of the members makes no difference. Throws InvalidRow. */
function canonical(content: unknown): string {
  try {
    return JSON.stringify(content, inOrder);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidRow('it is nested too deeply');
    throw error;
  }
}

/**
 * A row with its key or, if it has none, with a UUID of version 5 that names its content: the same content always gets the
 * same key, whatever the format of the file, the order of its rows or that of their fields. Throws InvalidRow.
 */
export function withKey<C extends object>(key: string | undefined, content: C): C & Keyed {
  if (key !== undefined) return { key, ...content };
  // As bytes: the package encodes text by a way that takes several times its size.
  const name = new TextEncoder().encode(canonical(content));
  return { key: uuidOf(name, NAMESPACE), keyFromContent: true, ...content };
}
