/** The value of a key's part: text, or a list of text values for `{name*}`. */
export type PartValue = string | readonly string[];

/** Values by part name; undefined if one is unknown. */
export type Parts = Readonly<Record<string, PartValue | undefined>>;

/** The contents of a template's braces: `key`, `code:2`, `path*`, `date?`. */
export type Braced<T extends string> = T extends `${string}{${infer Inner}}${infer Rest}`
  ? Inner | Braced<Rest>
  : never;

/** The name of a part without its modifiers. */
export type NameOf<B extends string> = B extends `${infer N}*` | `${infer N}?` | `${infer N}:${string}` ? N : B;

/** The type of a part's value, by its modifiers. */
export type ValueOf<B extends string> = B extends `${string}*` ? readonly string[] : string;

/** The parts of a key, typed from the source of its template; for a union of sources, a union of their shapes. */
export type TemplateParts<T extends string> = string extends T
  ? Readonly<Record<string, PartValue>>
  : T extends string
    ? { readonly [B in Braced<T> as NameOf<B>]: ValueOf<B> }
    : never;
