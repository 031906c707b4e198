/** The comparisons of PropertyFilter. */
export const COMPARISONS = ['eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'exists'] as const;
type Comparison = (typeof COMPARISONS)[number];

/**
 * Whether a value, as JSON, compares like this; undefined if there is none. As in PropertyFilter, values of different
 * types are not equal and in no order. Unlike there, no value is equal to null.
 */
export function comparisonOf(comparison: Comparison, wanted: unknown): (value: unknown) => boolean {
  const inOrder = (holds: (value: number | string, bound: number | string) => boolean) => (value: unknown) =>
    (typeof value === 'number' || typeof value === 'string') &&
    typeof value === typeof wanted &&
    holds(value, wanted as number | string);
  switch (comparison) {
    case 'eq':
      return (value) => (value ?? null) === wanted;
    case 'ne':
      return (value) => (value ?? null) !== wanted;
    case 'in':
      return (value) => (wanted as readonly unknown[]).includes(value ?? null);
    case 'gt':
      return inOrder((value, bound) => value > bound);
    case 'gte':
      return inOrder((value, bound) => value >= bound);
    case 'lt':
      return inOrder((value, bound) => value < bound);
    case 'lte':
      return inOrder((value, bound) => value <= bound);
    case 'contains':
      return (value) => (typeof value === 'string' || Array.isArray(value)) && value.includes(wanted as string);
    case 'exists':
      return (value) => (value !== undefined) === wanted;
  }
}
