import type { PartValue } from './template-types.js';

/** The kind of an ingredient: text, a number or a list of text values. */
export type IngredientKind = 'text' | 'number' | 'list';

/** The type of an ingredient's value. */
export type IngredientValue<K> = K extends 'text' ? string : K extends 'number' ? number : readonly string[];

/** The values that an entity's keys are made from: parts, and the ingredients of derived parts. */
export type Ingredients = Readonly<Record<string, PartValue | number | undefined>>;

type Kinds = Readonly<Record<string, IngredientKind>>;

/** A part derived from other values: the values, and the function. */
export interface Derivation<F extends Kinds = Kinds> {
  readonly from: F;
  /** The part, or undefined if there is none. */
  readonly value: (ingredients: never) => PartValue | undefined;
}

/**
 * Declares a part derived from other values, for example `derive({ date: 'text' }, ({ date }) => date.slice(0, 7))` for
 * a month. The function gets only what `from` names, which shows the indexes that an update touches.
 */
export function derive<const F extends Kinds>(
  from: F,
  value: (ingredients: { readonly [N in keyof F]: IngredientValue<F[N]> }) => PartValue | undefined,
): Derivation<F> {
  return { from, value };
}

/** Returns the function for a derived part; its result is undefined if an ingredient is missing. */
export function derivedPart({ from, value }: Derivation): (ingredients: Ingredients) => PartValue | undefined {
  const names = Object.keys(from);
  return (ingredients) => {
    if (names.some((name) => ingredients[name] === undefined)) return undefined;
    const picked: Record<string, unknown> = {};
    for (const name of names) picked[name] = ingredients[name];
    // The kinds of the ingredients were checked when they were typed.
    return value(picked as never);
  };
}
