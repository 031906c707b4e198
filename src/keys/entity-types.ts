import type { Derivation, Ingredients, IngredientValue } from './derive.js';
import type { IndexAttributes } from './indexes.js';
import type { Braced, NameOf, ValueOf } from './template-types.js';

/** The two ways to write the same keys: readable for people, or short. A table uses one of them. */
export type KeyStyle = 'readable' | 'compact';

/** The source of a template, or one for each style. */
export type TemplateSource = string | Readonly<Record<KeyStyle, string>>;

/** One index of an entity: its key attributes, and the templates for them. */
export interface IndexDeclaration {
  readonly attributes: IndexAttributes;
  readonly pk: TemplateSource;
  readonly sk?: TemplateSource;
}

/** The declaration of an entity's keys, from which everything else is derived. */
export interface EntityDeclaration {
  /** Name of the entity in errors. */
  readonly name: string;
  readonly key: { readonly pk: TemplateSource; readonly sk: TemplateSource };
  readonly indexes?: Readonly<Record<string, IndexDeclaration>>;
  /** Parts derived from other values. Only these may be empty. */
  readonly derived?: Readonly<Record<string, Derivation>>;
}

/** The sources of a template in all styles. */
export type Text<S> = S extends string ? S : S extends Readonly<Record<KeyStyle, infer T extends string>> ? T : never;
type KeyText<D extends EntityDeclaration> = Text<D['key']['pk'] | D['key']['sk']>;
type TextAt<I, K extends string> = I extends unknown ? (K extends keyof I ? Text<I[K]> : never) : never;

type DerivedOf<D> = D extends { readonly derived: infer R } ? R : Record<never, never>;
type IndexesOf<D> = D extends { readonly indexes: infer I } ? I : Record<never, never>;

type FromOf<R, N extends keyof R> = R[N] extends Derivation<infer F> ? F : never;
/** The ingredients of these derived parts; one shared by several has the same kind in all of them. */
type IngredientNames<R, N> = N extends keyof R ? keyof FromOf<R, N> : never;
type KindOf<R, I> = { [N in keyof R]: I extends keyof FromOf<R, N> ? FromOf<R, N>[I] : never }[keyof R];

/** The values for the parts in these braces: the parts themselves, or their ingredients if they are derived. */
type MadeFrom<R, B extends string> = {
  readonly [C in B as NameOf<C> extends keyof R ? never : NameOf<C>]: ValueOf<C>;
} & { readonly [I in IngredientNames<R, NameOf<B>>]: IngredientValue<KindOf<R, I>> };

type Optional<T> = { readonly [N in keyof T]?: T[N] | undefined };
type Simplified<T> = { readonly [N in keyof T]: T[N] };

/** The same for whole templates. A source unknown to the compiler could name anything. */
type MadeFromText<R, T extends string> = string extends T
  ? Ingredients
  : Simplified<MadeFrom<R, Exclude<Braced<T>, `${string}?`>> & Optional<MadeFrom<R, Extract<Braced<T>, `${string}?`>>>>;

/** The values for an entity's own key. */
export type KeyIngredients<D extends EntityDeclaration> = MadeFromText<DerivedOf<D>, KeyText<D>>;

/** The values for the keys of one index; only ingredients of parts like `{date?}` may be omitted. */
export type IndexIngredients<D extends EntityDeclaration, N extends IndexNames<D>> = MadeFromText<
  DerivedOf<D>,
  TextAt<IndexesOf<D>[N], 'pk' | 'sk'>
>;

export type IndexNames<D extends EntityDeclaration> = keyof IndexesOf<D> & string;

/** The sources of one index's partition or sort key; never if it has none. */
export type IndexText<D extends EntityDeclaration, N extends IndexNames<D>, K extends 'pk' | 'sk'> = TextAt<
  IndexesOf<D>[N],
  K
>;
