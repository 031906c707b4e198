import { z } from 'zod';

import { mustBe } from '../errors.js';
import { jsonIn } from '../model/exact-json.js';
import { jsonOfStored } from '../model/json.js';
import { fields, list, readShape } from '../model/shape.js';
import { parseTemplate } from './template.js';

/**
 * An item of a table: text, booleans, null, bytes, lists, maps and sets as JavaScript has them. Numbers are `number`, or
 * `bigint` if they are integers of more than 53 bits; fractions that a double would change may be given as their text.
 */
export type Item = Readonly<Record<string, unknown>>;

/** Steps into an item: names in maps, indexes in lists. */
export type Path = readonly (string | number)[];

const WHOLE = /^[^.[\]]+(?:\[\d{1,9}\])*(?:\.[^.[\]]+(?:\[\d{1,9}\])*)*$/;

/**
 * The steps of a path as mappings have it: `a.b[0].c`, or a list of names and indexes, which may also be JSON text;
 * undefined for anything else.
 */
export function parsePath(written: string | Path): Path | undefined {
  if (typeof written !== 'string') {
    const isStep = (step: string | number) => typeof step === 'string' || (Number.isSafeInteger(step) && step >= 0);
    return typeof written[0] === 'string' && written.every(isStep) ? written : undefined;
  }
  if (WHOLE.test(written)) {
    const steps = written.matchAll(/\[(\d+)\]|[^.[\]]+/g);
    return Array.from(steps, ([name, index]) => (index === undefined ? name : Number(index)));
  }
  try {
    // Not `jsonIn`, which would make a name of a number that is too long for an index.
    return /^\s*\[/.test(written) ? parsePath(JSON.parse(written) as Path) : undefined;
  } catch {
    return undefined;
  }
}

/** A path for people: `a.b[0].c`, whatever its names hold. */
export function pathText(path: Path): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/** The message for a value at a path that is not allowed. */
export const mustBeAt = (path: Path, allowed: string, value: unknown): string =>
  mustBe(pathText(path), allowed, jsonOfStored(value));

/** A path as mappings have it: parsePath(writePath(path)) = path. */
export function writePath(path: Path): string | (string | number)[] {
  const text = pathText(path);
  return JSON.stringify(parsePath(text)) === JSON.stringify(path) ? text : [...path];
}

/** Whether a value is a map; lists, sets and bytes are objects, too. */
export function isMap(value: unknown): value is Item {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && !Array.isArray(value) && !(value instanceof Set) && !(value instanceof Uint8Array);
}

/** Whether a value has more levels than DynamoDB has: what reads values calls itself for each. */
const isDeeper = (value: unknown, levels: number): boolean =>
  Object(value) === value && (levels === 0 || Object.values(value as object).some((one) => isDeeper(one, levels - 1)));

/** The last text, as the paths of a mapping lead into the same one of an item. */
let last: { readonly text: string; readonly json: unknown } = { text: '', json: '' };

/** A value that a path leads into: if it is JSON text, what the text says. */
export function opened(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  if (last.text !== value) {
    const json = jsonIn(value) ?? value;
    last = { text: value, json: isDeeper(json, 32) ? value : json };
  }
  return last.json;
}

/** The value at a path; undefined if there is none. */
export function valueAt(item: Item, path: Path): unknown {
  let value: unknown = item;
  for (const step of path) {
    value = opened(value);
    if (typeof step === 'number') value = Array.isArray(value) ? (value[step] as unknown) : undefined;
    else value = isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** A number in decimal digits, without an exponent. */
function decimalText(value: number | bigint): string {
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const [sign, digits] = mantissa.startsWith('-') ? ['-', mantissa.slice(1)] : ['', mantissa];
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  // JavaScript writes an exponent from 21 on, and has no more than 17 digits.
  if (shift > 0) return sign + (whole + fraction).padEnd(shift + 1, '0');
  return `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
}

/** A value as part of a key: text, numbers in decimal digits, bytes in base64; undefined for other or empty ones. */
export function keyText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return decimalText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64') || undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A name or category: text, even if empty, numbers in decimal digits, or true and false; null for anything else. */
export function label(value: unknown): string | null {
  if (value === '' || typeof value === 'boolean') return String(value);
  return value instanceof Uint8Array ? null : (keyText(value) ?? null);
}

/** How one value holds a position; `geojson` and `wkt` have the longitude first. */
const FORMATS = ['geojson', 'wkt', 'lat,lng', 'lng,lat', 'geohash'] as const;

/** Most entries of lists, steps of a path and characters of a text. */
const MOST = { place: 12, tests: 50, values: 1_000, paths: 100, steps: 32, characters: 2_048 } as const;

function refuse(context: z.RefinementCtx, message: string, path: PropertyKey[] = []): never {
  context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
}

const PATH = 'must be a path such as "a.b[0].c", or a list of names where a name holds a dot, such as ["a.b", "c"]';
const STEP = 'must be a name, or an index from 0';
const step = z.union([z.string(), z.int(STEP).min(0, STEP)], STEP);
const path = z
  .union([z.string().max(MOST.characters, PATH), z.array(step).max(MOST.steps, PATH)], PATH)
  .transform((written, context) => parsePath(written) ?? refuse(context, PATH))
  .meta({ id: 'path', description: 'Names and indexes: "a.b[0].c", or ["a.b", "c"] where a name holds a dot' });

const TEMPLATE = 'must be a template such as "SHOP#{key}": parts in braces, all different, with text between them';
const template = z
  .string(TEMPLATE)
  .max(MOST.characters, { error: TEMPLATE, abort: true })
  .transform((source, context) => parseTemplate(source) ?? refuse(context, TEMPLATE))
  .meta({ id: 'template', description: 'Text with parts in braces, such as SHOP#{key}; {{ and }} stand for braces' });

/** Positive, negative or 0, or NaN for values of different types, which are in no order. */
function order(value: unknown, bound: unknown): number {
  if (typeof value !== typeof bound || (typeof value !== 'number' && typeof value !== 'string')) return Number.NaN;
  return value > (bound as typeof value) ? 1 : value < (bound as typeof value) ? -1 : 0;
}

/** The comparisons of PropertyFilter, between a value as JSON and another. Unlike there, no value is equal to null. */
const COMPARISONS = {
  eq: (value: unknown, wanted: unknown) => (value ?? null) === wanted,
  ne: (value: unknown, wanted: unknown) => (value ?? null) !== wanted,
  in: (value: unknown, wanted: unknown) => (wanted as readonly unknown[]).includes(value ?? null),
  gt: (value: unknown, bound: unknown) => order(value, bound) > 0,
  gte: (value: unknown, bound: unknown) => order(value, bound) >= 0,
  lt: (value: unknown, bound: unknown) => order(value, bound) < 0,
  lte: (value: unknown, bound: unknown) => order(value, bound) <= 0,
  contains: (value: unknown, part: unknown) =>
    (typeof value === 'string' || Array.isArray(value)) && value.includes(part as string),
  exists: (value: unknown, wanted: unknown) => (value !== undefined) === wanted,
} as const;
const NAMES = Object.keys(COMPARISONS) as (keyof typeof COMPARISONS)[];

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], 'must be text, a number, true, false or null');
const bound = z.union([z.string(), z.number()], 'must be a number or text').optional();
const test = fields(
  {
    path,
    eq: scalar.optional(),
    ne: scalar.optional(),
    in: list(scalar, MOST.values, 'texts, numbers, true, false or null').optional(),
    gt: bound,
    gte: bound,
    lt: bound,
    lte: bound,
    contains: z.string('must be text').optional(),
    exists: z.boolean('must be true or false').optional(),
  },
  'must be a path with one comparison, such as { "path": "type", "eq": "shop" }',
).transform((written, context) => {
  const [name, ...more] = NAMES.filter((each) => written[each] !== undefined);
  if (name === undefined || more.length > 0) return refuse(context, `must have one comparison of ${NAMES.join(', ')}`);
  const asked = JSON.stringify({ [name]: written[name] });
  return { path: written.path, asked, holds: (value: unknown) => COMPARISONS[name](value, written[name]) };
});

const PER_DEGREE = 'must be a positive integer, such as 10000000 for ten-millionths of a degree';
function place<const More extends z.core.$ZodLooseShape>(more: More) {
  const allowed = 'must be an object with lng and lat, or with path and as';
  const as = z.enum(FORMATS, `must be one of ${FORMATS.join(' | ')}`);
  const perDegree = z.int(PER_DEGREE).min(1, PER_DEGREE).optional().meta({ description: 'Units that make a degree' });
  const pair = fields({ lng: path, lat: path, perDegree, ...more }, allowed);
  return z.union([pair, fields({ path, as, ...more }, allowed)]);
}

const TABLE = 'must be the name of a DynamoDB table: 3 to 255 characters of A-Z, a-z, 0-9, "_", "-" and "."';
const KEY =
  'must be a template over attributes such as "{itemId}" or "{PK}#{SK}", unless the templates of items have parts';
const mapping = fields(
  {
    $schema: z.string('must be text').optional(),
    table: z.string(TABLE).regex(/^[\w.-]{3,255}$/, TABLE),
    items: z
      .record(z.string(), template, 'must be an object with a template for each key attribute')
      .optional()
      .meta({ description: 'Templates that the attributes of markers match, such as { "PK": "SHOP#{key}" }' }),
    key: template
      .transform(({ literals, parts }, context) => {
        const paths = parts.map(parsePath).filter((each) => each !== undefined);
        return paths.length > 0 && paths.length === parts.length ? { literals, parts, paths } : refuse(context, KEY);
      })
      .optional()
      .meta({ description: 'The key of the marker, over any attributes, such as "{itemId}" or "{PK}#{SK}"' }),
    where: list(test, MOST.tests, 'tests').default([]).meta({ description: 'Tests that must all hold' }),
    each: path
      .optional()
      .meta({ description: 'A list, each entry of which is a marker: elsewhere, its path names one entry' }),
    ttl: path.optional().meta({ description: 'When the item expires: seconds, milliseconds or RFC 3339' }),
    position: place({
      fallback: place({}).optional().meta({ description: 'A second position, where the first is absent' }),
      zero: z.literal('missing', 'must be "missing", or left out').optional(),
      wrap: z.boolean('must be true or false').default(false),
    }),
    name: path.optional(),
    category: path.optional(),
    place: list(path, MOST.place, 'paths').default([]).meta({ description: 'Names of a hierarchy, outermost first' }),
    properties: list(path, MOST.paths, 'paths').default([]).meta({ description: 'What maps draw and filter by' }),
    details: z
      .union([z.literal('*'), list(path, MOST.paths, 'paths')], 'must be a list of paths, or "*" for everything else')
      .default([])
      .meta({ description: 'What is read from the table when asked for' }),
    newest: path.optional().meta({ description: 'Of several items with one key, the greatest value here counts' }),
    version: path.optional(),
    createdAt: path.optional(),
    updatedAt: path.optional(),
  },
  'must be an object with table, key, position and other fields: see docs/sources.md',
).superRefine(({ items = {}, key, each, newest }, context) => {
  const hasParts = Object.values(items).some(({ parts }) => parts.length > 0);
  if (key === undefined && !hasParts) refuse(context, KEY, ['key']);
  // The newest item may have fewer entries than an older one, whose others would stay.
  if (each && newest) refuse(context, 'must be left out with each: entries are those of one item', ['newest']);
});

/** A mapping as in its file: which items of a table are markers, and where they have what. See docs/sources.md. */
export type MappingJson = z.input<typeof mapping>;
/** A mapping ready for use, with its paths, templates and tests. */
export type Mapping = z.output<typeof mapping>;

/** Validates a mapping. Throws one BAD_USER_INPUT with a line for each fault. */
export const readMapping = (json: unknown): Mapping => readShape(mapping, json, 'the mapping');

/** The JSON Schema of mappings, for editors. */
export const mappingSchema = (): object => z.toJSONSchema(mapping, { io: 'input' });
