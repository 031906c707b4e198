/** What stands in a key for one name: a text, or for `{name*}` a list of texts. */
export type PartValue = string | readonly string[];

/** Values by the names of their parts; undefined where one is not known. */
export type Parts = Readonly<Record<string, PartValue | undefined>>;

/** What a template has in its braces, as written there: `key`, `code:2`, `path*`, `date?`. */
export type Braced<T extends string> = T extends `${string}{${infer Inner}}${infer Rest}`
  ? Inner | Braced<Rest>
  : never;

/** The name of a part without what its braces say about it. */
export type NameOf<B extends string> = B extends `${infer N}*` | `${infer N}?` | `${infer N}:${string}` ? N : B;

/** The type of a part's value by what its braces say about it. */
export type ValueOf<B extends string> = B extends `${string}*` ? readonly string[] : string;

/** The parts of a key, typed from the text of its template; of several texts, one of their shapes. */
export type TemplateParts<T extends string> = string extends T
  ? Readonly<Record<string, PartValue>>
  : T extends string
    ? { readonly [B in Braced<T> as NameOf<B>]: ValueOf<B> }
    : never;
