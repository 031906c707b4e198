import { z } from 'zod';

import { CellportError, shown } from '../errors.js';
import { COMPARISONS, comparisonOf } from './comparison.js';
import { parsePath, pathText, valueAt } from './path.js';
import { parseTemplate } from './template.js';

/** How one value holds a position; `geojson` and `wkt` have the longitude first. */
const FORMATS = ['geojson', 'wkt', 'lat,lng', 'lng,lat', 'geohash'] as const;

/** Most entries of a list, as in the API, and characters of a text. */
const MOST = { place: 12, tests: 50, values: 1_000, paths: 100, steps: 32, characters: 2_048 } as const;

const PATH = 'must be a path such as "a.b[0].c", or a list of names where a name holds a dot, such as ["a.b", "c"]';
const path = z
  .union([z.string().max(MOST.characters), z.array(z.union([z.string(), z.int().min(0)])).max(MOST.steps)], PATH)
  .transform((written, context) => {
    const steps = parsePath(written);
    if (steps === undefined) context.addIssue({ code: 'custom', message: PATH });
    return steps ?? z.NEVER;
  })
  .meta({
    id: 'path',
    description: 'Names in maps and indexes in lists: "a.b[0].c", or ["a.b", "c"] where a name holds a dot',
  });

const TEMPLATE = 'must be a template such as "SHOP#{key}": parts in braces, all different, with text between them';
const template = z
  .string(TEMPLATE)
  .max(MOST.characters, TEMPLATE)
  .transform((source, context) => {
    const parsed = parseTemplate(source);
    if (parsed === undefined) context.addIssue({ code: 'custom', message: TEMPLATE });
    return parsed ?? z.NEVER;
  })
  .meta({ id: 'template', description: 'Text with parts in braces, such as SHOP#{key}; {{ and }} stand for braces' });

function changes(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [above, character] of Array.from(from).entries()) {
    const next = [above + 1];
    for (let at = 1; at <= to.length; at++) {
      const replaced = (row[at - 1] ?? 0) + (character === to.charAt(at - 1) ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The known name that takes the fewest changes to get from this one. */
const nearest = (name: string, known: readonly string[]) =>
  known.toSorted((a, b) => changes(name.slice(0, 40), a) - changes(name.slice(0, 40), b))[0];

/** An object with these fields and no others. */
function fields<const Shape extends z.core.$ZodLooseShape>(shape: Shape, allowed: string) {
  const names = Object.keys(shape);
  const unknown = (name: string) => `is unknown; the nearest name is ${nearest(name, names)}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknown).join('\n') : allowed),
  });
}

const list = <Entry extends z.ZodType>(entry: Entry, most: number, what: string) =>
  z.array(entry, `must be a list of ${what}`).max(most, `must be a list of at most ${most} ${what}`);

const SCALAR = 'must be text, a number, true, false or null';
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], SCALAR);
const ordered = z.union([z.string(), z.number()], 'must be a number or text');
const test = fields(
  {
    path,
    eq: scalar.optional(),
    ne: scalar.optional().meta({ description: 'Holds also where there is no value, or null' }),
    in: list(scalar, MOST.values, 'texts, numbers, true, false or null').optional(),
    gt: ordered.optional(),
    gte: ordered.optional(),
    lt: ordered.optional(),
    lte: ordered.optional(),
    contains: z.string('must be text').optional(),
    exists: z.boolean('must be true or false').optional(),
  },
  'must be a path with one comparison, such as { "path": "type", "eq": "shop" }',
).transform((written, context) => {
  const [comparison, ...more] = COMPARISONS.filter((name) => written[name] !== undefined);
  if (comparison !== undefined && more.length === 0) {
    return { path: written.path, holds: comparisonOf(comparison, written[comparison]) };
  }
  context.addIssue({ code: 'custom', message: `must have exactly one comparison of ${COMPARISONS.join(', ')}` });
  return z.NEVER;
});

const POSITION = 'must be an object with lng and lat, or with path and as';
const AS = `must be one of ${FORMATS.join(' | ')}`;
function place<const More extends z.core.$ZodLooseShape>(more: More) {
  return z.union([
    fields({ lng: path, lat: path, ...more }, POSITION),
    fields({ path, as: z.enum(FORMATS, AS), ...more }, POSITION),
  ]);
}

const KEY =
  'must be a template over attributes such as "{itemId}" or "{PK}#{SK}", unless the templates of items have parts';

const mapping = fields(
  {
    $schema: z.string('must be text').optional(),
    table: z
      .string('must be the name of a DynamoDB table')
      .regex(
        /^[\w.-]{3,255}$/,
        'must be the name of a DynamoDB table: 3 to 255 characters of A-Z, a-z, 0-9, "_", "-" and "."',
      )
      .meta({ description: 'The name of the table' }),
    items: z.record(z.string(), template, 'must be an object with a template for each key attribute').optional().meta({
      description:
        'Templates over key attributes, such as { "PK": "SHOP#{key}", "SK": "META" }: other items are not markers. Their parts are the key of the marker, unless `key` is given',
    }),
    key: template
      .transform((parsed, context) => {
        const paths = parsed.parts.map((part) => keyPath(part));
        if (paths.includes(undefined) || paths.length === 0) context.addIssue({ code: 'custom', message: KEY });
        return { ...parsed, paths: paths.filter((each) => each !== undefined) };
      })
      .optional()
      .meta({
        description: 'The key of the marker: a template over any attributes, such as "{itemId}" or "{PK}#{SK}"',
      }),
    where: list(test, MOST.tests, 'tests').default([]).meta({ description: 'Tests that must all hold' }),
    ttl: path
      .optional()
      .meta({ description: 'When the item expires: seconds or milliseconds since 1970, or RFC 3339' }),
    position: place({
      fallback: place({}).optional().meta({ description: 'A second position, where the first is absent' }),
      zero: z
        .literal('missing', 'must be "missing", or left out where longitude 0, latitude 0 is a place')
        .optional()
        .meta({ description: 'Longitude 0, latitude 0 counts as no position' }),
      wrap: z
        .boolean('must be true or false')
        .default(false)
        .meta({ description: 'Longitudes beyond 180 are wrapped' }),
    }).meta({ description: 'Where the item has its position' }),
    name: path.optional(),
    category: path.optional(),
    place: list(path, MOST.place, 'paths').default([]).meta({ description: 'Names of a hierarchy, outermost first' }),
    properties: list(path, MOST.paths, 'paths')
      .default([])
      .meta({ description: 'Properties that maps draw and filter by' }),
    details: z
      .union([z.literal('*'), list(path, MOST.paths, 'paths')], 'must be a list of paths, or "*" for everything else')
      .default([])
      .meta({ description: 'Properties read from the table when asked for, or "*" for everything else' }),
    newest: path
      .optional()
      .meta({ description: 'Of several items with one key, the one with the greatest value here counts' }),
    version: path.optional(),
    createdAt: path.optional(),
    updatedAt: path.optional(),
  },
  'must be an object with table, key, position and others: see docs/sources.md',
).superRefine(({ items = {}, key }, context) => {
  if (key !== undefined || Object.values(items).some(({ parts }) => parts.length > 0)) return;
  context.addIssue({ code: 'custom', path: ['key'], message: KEY });
});

/** The path in a part of a key's template: `a.b`, or a list of names as JSON. */
function keyPath(part: string) {
  if (!part.startsWith('[')) return parsePath(part);
  const parsed = path.safeParse(jsonIn(part));
  return parsed.success ? parsed.data : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A mapping as in its file: which items of a table are markers, and where they have what. docs/sources.md has the reference. */
export type MappingJson = z.input<typeof mapping>;
/** A mapping ready for use: with its paths, templates and tests. */
export type Mapping = z.output<typeof mapping>;

/** A line for each fault: the path in the mapping, what is allowed, and the value. */
function faultsIn(issues: readonly z.core.$ZodIssue[], json: unknown, base: readonly PropertyKey[] = []): string[] {
  return issues.flatMap((issue) => {
    const at = [...base, ...issue.path] as (string | number)[];
    if (issue.code === 'invalid_union' && issue.message === 'Invalid input') {
      // Of the shapes that it may have, the one that it is nearest to.
      const shapes = issue.errors.map((errors) => faultsIn(errors, json, at));
      return shapes.toSorted((a, b) => a.length - b.length)[0] ?? [];
    }
    const named = (path: readonly (string | number)[]) => pathText(path) || 'the mapping';
    if (issue.code === 'unrecognized_keys') {
      return issue.message.split('\n').map((message, index) => `${named([...at, issue.keys[index] ?? ''])} ${message}`);
    }
    const value = valueAt({ json }, ['json', ...at]);
    return [`${named(at)} ${issue.message}; ${value === undefined ? 'it is missing' : `got ${shown(value)}`}`];
  });
}

/** Validates a mapping. Throws one BAD_USER_INPUT with a line for each fault. */
export function readMapping(json: unknown): Mapping {
  const parsed = mapping.safeParse(json);
  if (parsed.success) return parsed.data;
  const faults = faultsIn(parsed.error.issues, json);
  throw new CellportError('BAD_USER_INPUT', faults.join('\n'), { faults });
}

/** The JSON Schema of mappings, for editors. */
export function mappingSchema(): object {
  return z.toJSONSchema(mapping, { io: 'input' });
}
