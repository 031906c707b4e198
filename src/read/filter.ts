import { badInput } from '../errors.js';
import type { MarkerFilter } from '../model/grant.js';
import { readInstant } from '../model/instant.js';
import type { MapMarker, Properties } from '../model/marker.js';

/** The API's input type MarkerFilter. */
export interface MarkerFilterInput {
  readonly category?: readonly string[] | null | undefined;
  /** RFC 3339. */
  readonly updatedAfter?: string | null | undefined;
  readonly properties?: readonly PropertyFilterInput[] | null | undefined;
}

/** One comparison of a property: exactly one of the fields besides `name`. */
export interface PropertyFilterInput {
  readonly name: string;
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly in?: readonly unknown[] | null | undefined;
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly contains?: string | null | undefined;
  readonly exists?: boolean | null | undefined;
}

interface Comparison {
  readonly name: string;
  readonly test: (properties: Properties) => boolean;
}

const COMPARISONS = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'exists'] as const;
type ComparisonName = (typeof COMPARISONS)[number];
const isComparison = (name: string | undefined): name is ComparisonName => COMPARISONS.some((one) => one === name);

const ORDERED = {
  gt: (a: number | string, b: number | string) => a > b,
  gte: (a: number | string, b: number | string) => a >= b,
  lt: (a: number | string, b: number | string) => a < b,
  lte: (a: number | string, b: number | string) => a <= b,
} as const;

/** Maximum number of members of each list in a filter. */
const MOST_CATEGORIES = 1_000;
const MOST_COMPARISONS = 50;
const MOST_VALUES = 1_000;

/** Validates the length of a client's list. Throws BAD_USER_INPUT naming `field`. */
function checkLength(field: string, list: readonly unknown[], most: number, what: string): void {
  if (list.length > most) throw badInput(field, `${list.length} ${what}`, `a list of at most ${most} ${what}`);
}

/** Levels of nesting that DynamoDB stores. */
const DEEPEST = 32;
/** Maximum characters of one comparison, as JSON. */
const LONGEST = 20_000;

/** Throws BAD_USER_INPUT for a value that is too long or too large, or nested more deeply than DynamoDB stores. */
function checkSize(field: string, value: unknown): void {
  const within = (one: unknown): unknown[] => (typeof one === 'object' && one !== null ? Object.values(one) : []);
  let level = [value];
  for (let depth = 0; level.length > 0; depth++, level = level.flatMap(within)) {
    if (depth > DEEPEST) throw badInput(field, `more than ${DEEPEST} levels`, `nested at most ${DEEPEST} levels deep`);
    // From JSON, one like 1e999 is infinite: equal to nothing.
    const infinite = level.find((one) => one === Infinity || one === -Infinity);
    if (infinite !== undefined) throw badInput(field, infinite, 'without numbers that are too large');
  }
  if (JSON.stringify(value).length > LONGEST) throw badInput(field, 'a longer one', `at most ${LONGEST} characters`);
}

const sortedKeys = (_key: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Canonical JSON: the same text for equal values, whatever the order of their keys. */
const comparableText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value, sortedKeys) : `${typeof value} ${String(value)}`;

/** Texts of lists already checked: the aliases of a query share a variable. */
const textsOfLists = new WeakMap<readonly unknown[], ReadonlySet<string>>();

function readValues(field: string, list: readonly unknown[]): ReadonlySet<string> {
  const known = textsOfLists.get(list);
  if (known) return known;
  checkLength(field, list, MOST_VALUES, 'JSON values');
  checkSize(field, list);
  const texts = new Set(list.map(comparableText));
  textsOfLists.set(list, texts);
  return texts;
}

/** The condition on a property's value; undefined if the marker lacks the property. */
function readTest(field: string, comparison: ComparisonName, wanted: unknown): (value: unknown) => boolean {
  switch (comparison) {
    case 'eq':
    case 'ne': {
      checkSize(field, wanted);
      const text = comparableText(wanted);
      const isEqual = (value: unknown) => typeof value === typeof wanted && comparableText(value) === text;
      return comparison === 'eq' ? isEqual : (value) => !isEqual(value);
    }
    case 'in': {
      if (!Array.isArray(wanted)) throw badInput(field, wanted, 'a list of JSON values');
      const texts = readValues(field, wanted);
      return (value) => texts.has(comparableText(value));
    }
    case 'contains':
      if (typeof wanted !== 'string') throw badInput(field, wanted, 'a string');
      return (value) =>
        typeof value === 'string' ? value.includes(wanted) : Array.isArray(value) && value.includes(wanted);
    case 'exists':
      if (typeof wanted !== 'boolean') throw badInput(field, wanted, 'true or false');
      return (value) => (value !== undefined) === wanted;
    default: {
      if (typeof wanted !== 'string' && !(typeof wanted === 'number' && Number.isFinite(wanted))) {
        throw badInput(field, wanted, 'a number or a string');
      }
      const ordered = ORDERED[comparison];
      return (value) =>
        typeof value === typeof wanted &&
        (typeof value === 'number' || typeof value === 'string') &&
        ordered(value, wanted);
    }
  }
}

function readComparison(field: string, input: PropertyFilterInput): Comparison {
  const { name } = input;
  if (typeof name !== 'string') throw badInput(`${field}.name`, name, 'the name of a property');
  const [given, ...more] = Object.keys(input).filter(
    (one) => one !== 'name' && input[one as ComparisonName] !== undefined,
  );
  if (!isComparison(given) || more.length > 0) {
    const names = given === undefined ? 'none' : [given, ...more].join(' and ');
    throw badInput(field, names, `a name with exactly one comparison of ${COMPARISONS.join(', ')}`);
  }
  const test = readTest(`${field}.${given}`, given, input[given]);
  return { name, test: (properties) => test(Object.hasOwn(properties, name) ? properties[name] : undefined) };
}

/** Whether a copy may be one of a source that did not fit a page, and was cut to its key and position. */
const isCut = ({ complete, name, category, mapProperties }: MapMarker) =>
  !complete && name === null && category === null && Object.keys(mapProperties).length === 0;

/** Validates a client's filter; undefined if it filters nothing. Throws BAD_USER_INPUT naming the invalid part. */
export function readFilter(input: MarkerFilterInput | null | undefined): MarkerFilter | undefined {
  const { category, updatedAfter, properties } = input ?? {};
  if (category && !(Array.isArray(category) && category.every((name) => typeof name === 'string'))) {
    throw badInput('filter.category', category, 'a list of strings');
  }
  if (category) checkLength('filter.category', category, MOST_CATEGORIES, 'categories');
  if (properties) checkLength('filter.properties', properties, MOST_COMPARISONS, 'comparisons');
  const categories = category ? new Set(category) : undefined;
  const instant = updatedAfter == null ? undefined : Date.parse(readInstant('filter.updatedAfter', updatedAfter));
  const comparisons = (properties ?? []).map((comparison, index) =>
    readComparison(`filter.properties[${index}]`, comparison),
  );
  if (!categories && instant === undefined && comparisons.length === 0) return undefined;

  const inCategory = (marker: MapMarker) =>
    !categories || (marker.category !== null && categories.has(marker.category));
  return {
    verdict(marker, { mapProperties }) {
      if (isCut(marker)) return 'unknown';
      if (!inCategory(marker)) return 'fail';
      const drawn = ({ name }: Comparison) => marker.complete || mapProperties.includes(name);
      if (comparisons.some((one) => drawn(one) && !one.test(marker.mapProperties))) return 'fail';
      return instant === undefined && comparisons.every(drawn) ? 'pass' : 'unknown';
    },
    passes: (marker) =>
      inCategory(marker) &&
      comparisons.every((one) => one.test(marker.properties)) &&
      (instant === undefined || Date.parse(marker.updatedAt) > instant),
  };
}
