import type { RowOffset } from './row-offset.js';

/** Why a row is not what it should be. */
export interface Invalid {
  readonly reason: string;
}

/** Whether a row was not understood. */
export function isInvalid<C extends object>(content: C | Invalid): content is Invalid {
  return 'reason' in content;
}

/** One row of a file. */
export interface Row<C> extends RowOffset {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The row as it stood in the file, for the rejects file. */
  readonly source: unknown;
  readonly content: C | Invalid;
}

/** How the rows of a file in one format are read. */
export interface RowReader<C> {
  /** All rows in their order, some at a time. Throws BAD_USER_INPUT where the file as a whole is none of the format. */
  rows(): AsyncGenerator<readonly Row<C>[]>;
  /** What rows say by their bytes alone, once `rows` has been through; the bytes are those of rows that were understood. */
  contents(rows: readonly Buffer[]): readonly (C | Invalid)[];
}

/** What a JSON value of a file says. Throws InvalidRow where it is not what it should be. */
export type ReadValue<C> = (value: unknown) => C;

/** How rows are read: `keyField` names the field or property that holds the key, instead of the usual ones. */
export interface ReadOptions {
  readonly keyField?: string | undefined;
}

/** A row that cannot be a marker; the message is the reason that the rejects file gives. */
export class InvalidRow extends Error {}

/** What stands in a file, with the names of its fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value parsed from JSON is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs `make` and gives the row's content: what it made, or the reason of the InvalidRow that it threw. */
export function contentOf<C>(make: () => C): C | Invalid {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidRow) return { reason: error.message };
    throw error;
  }
}

/** A key of a file as text: strings as they are, whole numbers by their digits (those beyond 2^53 come as bigint). Throws InvalidRow. */
export function keyText(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return String(value);
  if (value === undefined || value === null || value === '') {
    throw new InvalidRow(`it has no ${field}, which would be its key (--key-field names another field)`);
  }
  throw new InvalidRow(`its ${field} is neither a text nor a whole number`);
}

/** A name or category: texts as they are, numbers and booleans as they are written, null where there is nothing. */
export function label(field: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  throw new InvalidRow(`its ${field} is not a text`);
}

/** The fields without those that were used for something else. */
export function without(fields: Fields, used: readonly (string | undefined)[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.includes(name)));
}

/** The member of a Feature that holds a marker's name, category and place where they are not among its properties. */
export const OWN_MEMBER = 'cellport';

/** A name or category in that member, in which an empty text is one. */
export function ownLabel(field: string, value: unknown): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  throw new InvalidRow(`the ${field} in its member ${OWN_MEMBER} is not a text`);
}

/** A Feature's geometry, key and properties. Throws InvalidRow where it is none. */
export function partsOfFeature(feature: unknown, { keyField }: ReadOptions) {
  if (!isFields(feature) || feature['type'] !== 'Feature') throw new InvalidRow('it is no GeoJSON Feature');
  const { geometry } = feature;
  if (!isFields(geometry)) throw new InvalidRow('the feature has no geometry');
  const properties = feature['properties'] ?? {};
  if (!isFields(properties)) throw new InvalidRow('its properties are no object');
  return {
    geometry,
    /** Read when it is asked for: what is wrong with the geometry is told first. */
    key: () => (keyField === undefined ? keyText('id', feature['id']) : keyText(keyField, properties[keyField])),
    properties,
    own: feature[OWN_MEMBER],
  };
}

/** For each part, the first of its names that is among the names of fields, whatever their case and the blanks around them. */
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
