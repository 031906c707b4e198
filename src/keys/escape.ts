/** Separates the parts of a key. */
export const SEPARATOR = '::';

/**
 * Appended to a part, gives the upper bound of a BETWEEN over everything that begins with that part and a separator:
 * `;` is the byte after `:`, and no escaped part has `:;`, so `a:;` sorts after every `a::…` and equals no key.
 */
export const AFTER_SEPARATOR = ':;';

/**
 * Whether a key is a partition key or a sort key. Only sort keys must not contain `#`, where document IDs are split.
 */
export type KeyRole = 'partition' | 'sort';

/** DynamoDB's limits in bytes of UTF-8, which also apply to keys of indexes. */
export const KEY_BYTES = { partition: 2048, sort: 1024 } as const;

// A colon is ambiguous at either end of a part and next to another one; before `;` it would break the upper bound.
const AMBIGUOUS = {
  partition: /%|^:|:$|:(?=[:;])|(?<=:):/g,
  sort: /[%#]|^:|:$|:(?=[:;])|(?<=:):/g,
} as const;

/** Most parts have none of these characters and need no escaping. */
const SPECIAL = /[%:#]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether UTF-8 can encode the text: lone surrogates would be replaced, which could make two keys equal. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** The part as written in a key, with the few characters escaped that would be ambiguous (`%`, some `:`, `#`). */
export function escapePart(part: string, role: KeyRole): string {
  if (!SPECIAL.test(part)) return part;
  return part.replace(AMBIGUOUS[role], (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The part whose escaped form is this text; undefined if there is none. */
export function unescapePart(text: string, role: KeyRole): string | undefined {
  if (!SPECIAL.test(text)) return text;
  const part = text.replace(/%(25|3A|23)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return escapePart(part, role) === text ? part : undefined;
}

/** Whether the text has at most `bytes` bytes of UTF-8, the unit of DynamoDB's limits. */
export function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || byteLength(text) <= bytes;
}

/** Length of the text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
