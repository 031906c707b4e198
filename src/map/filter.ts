import { isDeepStrictEqual } from 'node:util';

import { badInput } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker, Marker, Properties } from '../model/marker.js';

/** The contract's MarkerFilter. */
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

/** A checked filter. */
export interface MarkerFilter {
  /** Whether a marker passes by its copy in the index; `unknown` if only the base item shows it. */
  verdict(marker: MapMarker, collection: Collection): 'pass' | 'fail' | 'unknown';
  /** Whether a marker passes by its base item. */
  passes(marker: Marker): boolean;
}

interface Comparison {
  readonly name: string;
  readonly test: (properties: Properties) => boolean;
}

const COMPARISONS = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'exists'] as const;
type ComparisonName = (typeof COMPARISONS)[number];

const ORDERED = {
  gt: (a: number | string, b: number | string) => a > b,
  gte: (a: number | string, b: number | string) => a >= b,
  lt: (a: number | string, b: number | string) => a < b,
  lte: (a: number | string, b: number | string) => a <= b,
} as const;

/** The condition on the value of a property; `there` is false if the marker lacks the property. */
function readTest(
  field: string,
  comparison: ComparisonName,
  wanted: unknown,
): (value: unknown, there: boolean) => boolean {
  switch (comparison) {
    case 'eq':
      return (value, there) => there && isDeepStrictEqual(value, wanted);
    case 'ne':
      return (value, there) => !there || !isDeepStrictEqual(value, wanted);
    case 'in': {
      if (!Array.isArray(wanted)) throw badInput(field, wanted, 'a list of JSON values');
      const list: readonly unknown[] = wanted;
      return (value, there) => there && list.some((member) => isDeepStrictEqual(value, member));
    }
    case 'contains':
      if (typeof wanted !== 'string') throw badInput(field, wanted, 'a string');
      return (value) =>
        typeof value === 'string' ? value.includes(wanted) : Array.isArray(value) && value.includes(wanted);
    case 'exists':
      if (typeof wanted !== 'boolean') throw badInput(field, wanted, 'true or false');
      return (_, there) => there === wanted;
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
  const [given, ...more] = COMPARISONS.filter((comparison) => input[comparison] !== undefined);
  if (given === undefined || more.length > 0) {
    const names = given === undefined ? 'none' : [given, ...more].join(' and ');
    throw badInput(field, names, `a name with exactly one comparison of ${COMPARISONS.join(', ')}`);
  }
  const test = readTest(`${field}.${given}`, given, input[given]);
  return { name, test: (properties) => test(properties[name], Object.hasOwn(properties, name)) };
}

/** The instant in milliseconds. */
function readInstant(field: string, value: unknown): number {
  const instant = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(instant)) throw badInput(field, value, 'an instant in RFC 3339 format');
  return instant;
}

/** A filter from a client; undefined if nothing is filtered. Throws BAD_USER_INPUT naming the part that is wrong. */
export function readFilter(input: MarkerFilterInput | null | undefined): MarkerFilter | undefined {
  const { category, updatedAfter, properties } = input ?? {};
  if (category && !(Array.isArray(category) && category.every((name) => typeof name === 'string'))) {
    throw badInput('filter.category', category, 'a list of strings');
  }
  const categories = category ? new Set(category) : undefined;
  const instant = updatedAfter ? readInstant('filter.updatedAfter', updatedAfter) : undefined;
  const comparisons = (properties ?? []).map((comparison, index) =>
    readComparison(`filter.properties[${index}]`, comparison),
  );
  if (!categories && instant === undefined && comparisons.length === 0) return undefined;

  const inCategory = (marker: MapMarker) =>
    !categories || (marker.category !== null && categories.has(marker.category));
  return {
    verdict(marker, { mapProperties }) {
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
