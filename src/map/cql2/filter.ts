import { badInput } from '../../errors.js';
import { readInstant } from '../../model/instant.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { jsonIn } from '../../read/cursor.js';
import type { MarkerFilterInput, PropertyFilterInput } from '../../read/filter.js';
import { readCql2Text, type Cql2 } from './text.js';

export const FILTER_LANGUAGES = ['cql2-text', 'cql2-json'] as const;

const COMPARISONS = { '=': 'eq', '<>': 'ne', '<': 'lt', '>': 'gt', '<=': 'lte', '>=': 'gte', in: 'in' } as const;
const ORDERED = ['<', '>', '<=', '>=', 'between'];
const ALLOWED = 'comparisons of a property with a value, joined by and';
/** How many values an operation has, if it is not one. */
const VALUES: ReadonlyMap<string, number> = new Map([
  ['between', 2],
  ['isNull', 0],
]);

type Node = Readonly<Record<string, Cql2>>;
const isNode = (tree: Cql2 | undefined): tree is Node =>
  typeof tree === 'object' && tree !== null && !Array.isArray(tree);

/** An operation; its first argument is a property. */
interface Comparison {
  readonly op: string;
  readonly name: string;
  readonly values: readonly Cql2[];
}

function readComparison(tree: Cql2): Comparison {
  const { op, args } = isNode(tree) ? tree : {};
  const [first, ...values] = Array.isArray(args) ? (args as readonly Cql2[]) : [];
  if (op === 'not' && isNode(first) && first['op'] === 'isNull') return { ...readComparison(first), op: 'isNotNull' };
  const name = isNode(first) ? first['property'] : undefined;
  if (typeof op !== 'string' || typeof name !== 'string' || values.length !== (VALUES.get(op) ?? 1))
    throw badInput('filter', tree, ALLOWED);
  return { op, name, values };
}

/** The comparisons that a tree joins by `and`. */
function joined(tree: Cql2): Cql2[] {
  const found: Cql2[] = [];
  for (const waiting = [tree]; waiting.length > 0;) {
    const next = waiting.pop() ?? null;
    const parts = isNode(next) && next['op'] === 'and' ? next['args'] : undefined;
    if (Array.isArray(parts) && parts.length > 0) waiting.push(...(parts as Cql2[]));
    else found.push(next);
  }
  return found;
}

/** What a property must be, in the terms of MarkerFilter. */
function conditions({ op, name, values }: Comparison): readonly PropertyFilterInput[] {
  const [value = null, other = null] = values;
  const comparison = Object.entries(COMPARISONS).find(([sign]) => sign === op)?.[1];
  const unordered = values.find((each) => typeof each !== 'string' && !Number.isFinite(each));
  if (ORDERED.includes(op) && unordered !== undefined) {
    throw badInput('filter', unordered, `a number or a text after ${JSON.stringify(name)} ${op}`);
  }
  if (op === 'isNotNull')
    return [
      { name, exists: true },
      { name, ne: null },
    ];
  // Not `exists: false`, which a property that is null would not pass.
  if (op === 'isNull') return [{ name, in: [null, undefined] }];
  if (op === 'between')
    return [
      { name, gte: value },
      { name, lte: other },
    ];
  if (op === 'like') {
    const [, part] = /^%([^%_\\]+)%$/.exec(typeof value === 'string' ? value : '') ?? [];
    if (part === undefined) throw badInput('filter', value, "LIKE '%text%', without other wildcards");
    return [{ name, contains: part }];
  }
  if (comparison === undefined || [value].flat().some(isNode))
    throw badInput('filter', comparison ? value : op, ALLOWED);
  const isOther =
    comparison === 'ne'
      ? [
          { name, exists: true },
          { name, ne: null },
        ]
      : [];
  return [{ name, [comparison]: value }, ...isOther];
}

/**
 * The filter in the parameters `filter` and `filter-lang`: comparisons in CQL2 that MarkerFilter can say. Throws
 * BAD_USER_INPUT naming what it cannot.
 */
export function readCql2(text: string | undefined, language: string = 'cql2-text'): MarkerFilterInput | undefined {
  if (!FILTER_LANGUAGES.some((each) => each === language)) {
    throw badInput('filter-lang', language, `one of ${FILTER_LANGUAGES.join(', ')}`);
  }
  if (text === undefined) return undefined;
  const tree = language === 'cql2-json' ? jsonIn(text) : null;
  if (tree === undefined) throw badInput('filter', text, 'CQL2 as JSON');
  const trees = language === 'cql2-json' ? joined(tree as Cql2) : readCql2Text(text);
  let category: readonly string[] | undefined;
  let updatedAfter: string | undefined;
  const properties: PropertyFilterInput[] = [];
  for (const each of trees.map(readComparison)) {
    const { op, name, values } = each;
    const [value = null] = values;
    if (name === 'category') {
      const names = op === '=' ? [value] : value;
      const isList = Array.isArray(names) && names.every((one): one is string => typeof one === 'string');
      if (!isList || (op !== '=' && op !== 'in'))
        throw badInput('filter', [op, ...values], 'category = a text, or category IN a list of texts');
      category = category?.filter((one) => names.includes(one)) ?? names;
    } else if (name === 'updatedAt') {
      const instant = isNode(value) ? value['timestamp'] : undefined;
      if (op !== '>' || typeof instant !== 'string' || updatedAfter !== undefined)
        throw badInput('filter', [op, ...values], 'updatedAt > TIMESTAMP(an instant), once');
      updatedAfter = readInstant('filter', instant);
    } else if (name === 'key' || name === 'name' || name === 'geometry') {
      throw badInput('filter', name, 'category, updatedAt or a property of markers');
    } else properties.push(...conditions(each));
  }
  return { category, updatedAfter, properties };
}

/**
 * What can be in a filter, as a JSON Schema of this URL: properties that maps do not draw can, too, for a read for each
 * marker. Throws NOT_FOUND.
 */
export async function queryables(context: MapContext, key: string, url: string) {
  const { name, mapProperties, grant } = await requireCollection(context, key);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: url,
    type: 'object',
    title: name,
    properties: {
      ...Object.fromEntries(
        mapProperties
          .filter((each) => grant?.hidden.has(each) !== true)
          .map((each) => [each, { title: each, type: ['string', 'number', 'boolean'] }]),
      ),
      category: { title: 'category', type: 'string' },
      updatedAt: { title: 'updatedAt', type: 'string', format: 'date-time' },
    },
    additionalProperties: true,
  };
}
