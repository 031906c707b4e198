import type { MarkerFilter, PropertyFilter } from '../../../src/client/generated.js';
import type { MapMarker } from '../../../src/client/public.js';

/** The name of a property; null for the category. */
export type Field = string | null;

/** Numbers of a property, both ends included; an open end is infinite. */
export interface Range {
  readonly field: string;
  readonly from: number;
  readonly to: number;
}

/** A set of values of a field. */
export interface Choice {
  readonly field: Field;
  readonly values: readonly string[];
}

export type Condition = Range | Choice;

/** Which markers of a collection are shown, and how. */
export interface Rules {
  /** Markers must match all of them. */
  readonly conditions: readonly Condition[];
  /** A color scale between two numbers, or one color per value. */
  readonly color: Condition | undefined;
  /** The smallest circle stands for `from`, the largest for `to`. */
  readonly size: Range | undefined;
}

export const NO_RULES: Rules = { conditions: [], color: undefined, size: undefined };

export const isRange = (condition: Condition): condition is Range => 'from' in condition;

type Described = Pick<MapMarker, 'category' | 'properties'>;

/** The value of a field; undefined if the marker has none. Only own properties count: one may be called `constructor`. */
export function valueOf({ category, properties }: Described, field: Field): unknown {
  if (field === null) return category ?? undefined;
  const all = properties as Readonly<Record<string, unknown>>;
  return Object.hasOwn(all, field) ? all[field] : undefined;
}

/** The value of a field as the text of a choice; undefined unless it is a string or boolean. */
export function choiceOf(marker: Described, field: Field): string | undefined {
  const value = valueOf(marker, field);
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined;
}

function meets(marker: Described, condition: Condition): boolean {
  if (isRange(condition)) {
    const value = valueOf(marker, condition.field);
    return typeof value === 'number' && value >= condition.from && value <= condition.to;
  }
  const text = choiceOf(marker, condition.field);
  return text !== undefined && condition.values.includes(text);
}

/** Whether a marker matches all conditions; agrees with the server's result for `filterOf`. */
export const passes = (marker: Described, { conditions }: Rules): boolean =>
  conditions.every((condition) => meets(marker, condition));

/** A choice does not distinguish strings from booleans. */
const jsonValues = (text: string) => (text === 'true' || text === 'false' ? [text, text === 'true'] : [text]);

/** The API's filter for the conditions; undefined if there are none. */
export function filterOf({ conditions }: Rules): MarkerFilter | undefined {
  if (conditions.length === 0) return undefined;
  const categories = conditions.flatMap((each) => (!isRange(each) && each.field === null ? [each.values] : []));
  const [category, ...others] = categories;
  return {
    // Several lists of categories are replaced by their intersection.
    ...(category && { category: category.filter((name) => others.every((list) => list.includes(name))) }),
    properties: conditions.flatMap((each): PropertyFilter[] => {
      if (!isRange(each)) return each.field === null ? [] : [{ name: each.field, in: each.values.flatMap(jsonValues) }];
      const { field: name, from, to } = each;
      return [...(from > -Infinity ? [{ name, gte: from }] : []), ...(to < Infinity ? [{ name, lte: to }] : [])];
    }),
  };
}
