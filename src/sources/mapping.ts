import { z } from 'zod';

import { fields, list, readShape } from '../model/shape.js';
import { parsePath } from './path.js';
import { parseTemplate } from './template.js';

/** How one value holds a position; `geojson` and `wkt` have the longitude first. */
const FORMATS = ['geojson', 'wkt', 'lat,lng', 'lng,lat', 'geohash'] as const;

/** Most entries of lists, steps of a path and characters of a text. */
const MOST = { place: 12, tests: 50, values: 1_000, paths: 100, steps: 32, characters: 2_048 } as const;

function refuse(context: z.RefinementCtx, message: string, path: PropertyKey[] = []): never {
  context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
}

const PATH = 'must be a path such as "a.b[0].c", or a list of names where a name holds a dot, such as ["a.b", "c"]';
const path = z
  .union([z.string().max(MOST.characters), z.array(z.union([z.string(), z.int().min(0)])).max(MOST.steps)], PATH)
  .transform((written, context) => parsePath(written) ?? refuse(context, PATH))
  .meta({ id: 'path', description: 'Names and indexes: "a.b[0].c", or ["a.b", "c"] where a name holds a dot' });

const TEMPLATE = 'must be a template such as "SHOP#{key}": parts in braces, all different, with text between them';
const template = z
  .string(TEMPLATE)
  .max(MOST.characters, TEMPLATE)
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

function place<const More extends z.core.$ZodLooseShape>(more: More) {
  const allowed = 'must be an object with lng and lat, or with path and as';
  const as = z.enum(FORMATS, `must be one of ${FORMATS.join(' | ')}`);
  return z.union([fields({ lng: path, lat: path, ...more }, allowed), fields({ path, as, ...more }, allowed)]);
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
