import type { PartValue } from './template-types.js';

/** What an ingredient is: a text, a number or a list of texts. */
export type IngredientKind = 'text' | 'number' | 'list';

/** The type of an ingredient's value. */
export type IngredientValue<K> = K extends 'text' ? string : K extends 'number' ? number : readonly string[];

/** What an entity's keys are made from: parts, and what parts are derived from. */
export type Ingredients = Readonly<Record<string, PartValue | number | undefined>>;

type Kinds = Readonly<Record<string, IngredientKind>>;

/** A part that follows from other values: which ones, and how. */
export interface Derivation<F extends Kinds = Kinds> {
  readonly from: F;
  /** The part, or undefined where there is none. */
  readonly value: (ingredients: never) => PartValue | undefined;
}

/**
 * A part that is made from other values, e.g. `derive({ date: 'text' }, ({ date }) => date.slice(0, 7))` for a month. The
 * function is handed what `from` names and nothing else, so that an update's touched indexes can be told from it.
 */
export function derive<const F extends Kinds>(
  from: F,
  value: (ingredients: { readonly [N in keyof F]: IngredientValue<F[N]> }) => PartValue | undefined,
): Derivation<F> {
  return { from, value };
}

/** The value of a derived part; undefined where an ingredient is missing. */
export function derivedPart({ from, value }: Derivation, ingredients: Ingredients): PartValue | undefined {
  const picked = Object.keys(from).map((name) => [name, ingredients[name]] as const);
  if (picked.some(([, ingredient]) => ingredient === undefined)) return undefined;
  // What `derive` was given takes just these names; their kinds were checked where the ingredients were typed.
  return value(Object.fromEntries(picked) as never);
}
