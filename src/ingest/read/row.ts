import type { RowOffset } from './row-offset.js';

/** An invalid row. */
export interface Invalid {
  readonly reason: string;
}

export function isInvalid<C extends object>(content: C | Invalid): content is Invalid {
  return 'reason' in content;
}

/** The text of a row, for the rejects file. */
export interface RowText {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The row as it is in the file. */
  readonly text: string;
  /** Whether the text is JSON. */
  readonly isJson: boolean;
}

/** One row of a file. */
export interface Row<C> extends RowOffset, RowText {
  readonly content: C | Invalid;
}

/** Reads the rows of a file in one format. */
export interface RowReader<C> {
  /** All rows in order, in batches. Throws BAD_USER_INPUT if the file as a whole is not of the format. */
  rows(): AsyncGenerator<readonly Row<C>[]>;
  /** The contents of valid rows from their bytes, once `rows` is complete. */
  contents(rows: readonly Buffer[]): readonly (C | Invalid)[];
}

/** Makes the content of a row from a JSON value. Throws InvalidRow. */
export type ReadValue<C> = (value: unknown) => C;

/** `keyField` names the field or property that holds the key, in place of the defaults. */
export interface ReadOptions {
  readonly keyField?: string | undefined;
}

/** Thrown for an invalid row; the message is the reason in the rejects file. */
export class InvalidRow extends Error {}

/** A JSON object, or the cells of a table by column. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The result of `make`, or the reason if it throws InvalidRow. */
export function contentOf<C>(make: () => C): C | Invalid {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidRow) return { reason: error.message };
    throw error;
  }
}

/** A key as text: strings as they are, integers by their digits (those beyond 2^53 are bigint). Throws InvalidRow. */
export function keyText(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return String(value);
  if (value === undefined || value === null || value === '') {
    throw new InvalidRow(`no key in field ${field}; pass --key-field if another field holds it`);
  }
  throw new InvalidRow(`${field} is neither text nor an integer`);
}

/** A name or category: text as it is, numbers and booleans as text, null if missing or empty. Throws InvalidRow. */
export function label(field: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new InvalidRow(`${field} is not text`);
}

/** The fields without those already used. */
export function without(fields: Fields, used: readonly (string | undefined)[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.includes(name)));
}

/** Member of a Feature for the name, category and place of a marker that cannot be among its properties. */
export const OWN_MEMBER = 'cellport';

/** A name or category in that member, where an empty string is kept. Throws InvalidRow. */
export function ownLabel(field: string, value: unknown): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  throw new InvalidRow(`${field} in the member ${OWN_MEMBER} is not text`);
}

/** The parts of a Feature. Throws InvalidRow if it is not one. */
export function partsOfFeature(feature: unknown, { keyField }: ReadOptions) {
  if (!isFields(feature) || feature['type'] !== 'Feature') throw new InvalidRow('not a GeoJSON Feature');
  const { geometry } = feature;
  if (!isFields(geometry)) throw new InvalidRow('the feature has no geometry');
  const properties = feature['properties'] ?? {};
  if (!isFields(properties)) throw new InvalidRow('properties is not an object');
  return {
    geometry,
    /** A function, so that an invalid geometry is reported first. */
    key: () => (keyField === undefined ? keyText('id', feature['id']) : keyText(keyField, properties[keyField])),
    properties,
    own: feature[OWN_MEMBER],
  };
}

/** The type of a geometry, for messages. */
export function typeOf({ type }: Fields): string {
  return typeof type === 'string' ? type : 'of no type';
}

/** For each part, the first of its names that is a field, ignoring case and surrounding blanks. */
export function findFields<Part extends string>(
  names: readonly string[],
  partNames: Readonly<Record<Part, readonly string[]>>,
): Partial<Record<Part, string>> {
  const byPlainName = new Map<string, string>();
  for (const name of names) {
    const plain = name.trim().toLowerCase();
    if (!byPlainName.has(plain)) byPlainName.set(plain, name);
  }
  const found: Partial<Record<Part, string>> = {};
  for (const part of Object.keys(partNames) as Part[]) {
    const hit = partNames[part].find((name) => byPlainName.has(name));
    const name = hit === undefined ? undefined : byPlainName.get(hit);
    if (name !== undefined) found[part] = name;
  }
  return found;
}
