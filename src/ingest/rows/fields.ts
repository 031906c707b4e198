/** How to read rows; the names of columns, fields or properties must match exactly. */
export interface ReadOptions {
  /** Name of the key column, instead of the defaults; every row then needs a key. */
  readonly keyColumn?: string | undefined;
  /**
   * Name of the latitude column, instead of the usual names; or of the column for both coordinates, if `lngColumn` is
   * the same.
   */
  readonly latColumn?: string | undefined;
  readonly lngColumn?: string | undefined;
  /** Name of the name column, instead of `name`; null for none. */
  readonly nameColumn?: string | null | undefined;
  /** Name of the category column, likewise. */
  readonly categoryColumn?: string | null | undefined;
  /** Columns of a table whose cells are text, or numbers where they can be read as such, whatever they look like. */
  readonly textColumn?: readonly string[] | undefined;
  readonly numberColumn?: readonly string[] | undefined;
  /** A label of TextDecoder; detected by default. */
  readonly encoding?: string | undefined;
}

/** Thrown for an invalid row; the message is the reason in the rejects file. */
export class InvalidRow extends Error {
  /** What it is instead, if another import takes it. */
  readonly skipped: 'point' | 'line' | 'area' | undefined;

  constructor(reason: string, skipped?: InvalidRow['skipped']) {
    super(reason);
    this.skipped = skipped;
  }
}

/** A JSON object, or the cells of a table by column. */
export type RowFields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is RowFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A key as text: strings unchanged, numbers as JSON writes them; undefined if it is missing or empty. Throws InvalidRow.
 */
export function givenKey(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new InvalidRow(`${field} is neither text nor a number`);
}

/** Like `givenKey`, but throws InvalidRow if the key is missing. */
export function keyText(field: string, value: unknown): string {
  const key = givenKey(field, value);
  if (key !== undefined) return key;
  throw new InvalidRow(`no key in ${field}; pass --key-column if another column or property has it`);
}

/** A name or category: text unchanged, numbers and booleans as text, null if missing or empty. Throws InvalidRow. */
export function label(field: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new InvalidRow(`${field} is not text`);
}

/** The fields except those already used. */
export function without(fields: RowFields, used: readonly (string | null | undefined)[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !used.includes(name)));
}

/** Member of a Feature for a marker's name, category and place if they cannot be among its properties. */
export const OWN_MEMBER = 'cellport';

/** A name or category in that member, where an empty string is kept. Throws InvalidRow. */
export function ownLabel(field: string, value: unknown): string | null {
  if (value === undefined || value === null || typeof value === 'string') return value ?? null;
  throw new InvalidRow(`${field} in the member ${OWN_MEMBER} is not text`);
}

/** The properties of a Feature. Throws InvalidRow if it is not one. */
export function propertiesOfFeature(feature: RowFields): RowFields {
  const properties = feature['properties'] ?? {};
  if (!isFields(properties)) throw new InvalidRow('properties is not an object');
  return properties;
}

/** Fields that may hold a key if none is named; the first that exists is used. */
export const KEY_NAMES = ['key', 'id'] as const;
export const LABEL_NAMES = { name: ['name', 'title'], category: ['category'], place: ['place'] } as const;

/**
 * The key of a Feature: its id, or else a property of such a name; and the properties besides it. A property named by
 * `keyColumn` stays. Throws InvalidRow.
 */
export function keyOfFeature(feature: RowFields, properties: RowFields, { keyColumn }: ReadOptions) {
  if (keyColumn !== undefined) return { key: keyText(keyColumn, properties[keyColumn]), properties };
  const key = givenKey('id', feature['id']);
  const { own } = key === undefined ? findParts(properties, { own: KEY_NAMES }) : {};
  const value = own === undefined ? undefined : properties[own];
  if (own === undefined || value === '' || (typeof value !== 'string' && typeof value !== 'number')) {
    return { key, properties };
  }
  return { key: String(value), properties: without(properties, [own]) };
}

/** The type of a geometry, for messages. */
export function typeOf({ type }: RowFields): string {
  return typeof type === 'string' ? type : 'of no type';
}

const EXACT_NAMES: readonly string[] = [...KEY_NAMES, ...Object.keys(LABEL_NAMES)];

export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * The fields that are parts of an object: of several names, the first that has a value; under another spelling, what is no
 * text stays a property.
 */
export function findParts<Part extends string>(
  fields: RowFields,
  partNames: Readonly<Record<Part, readonly string[]>>,
) {
  const usable = Object.keys(fields).filter((name) => typeof fields[name] !== 'object' || EXACT_NAMES.includes(name));
  const given = usable.filter((name) => isGiven(fields[name]));
  return { ...findFields(usable, partNames), ...findFields(given, partNames) };
}

/** For each part, the first of its names that exists as a field, ignoring case and surrounding blanks. */
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
    const name = hit === undefined || names.includes(hit) ? hit : byPlainName.get(hit);
    if (name !== undefined) found[part] = name;
  }
  return found;
}
