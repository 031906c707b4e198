/** Separates the parts of a key. */
export const SEPARATOR = '::';

/**
 * Appended to a part, makes the upper bound of a BETWEEN over everything that begins with that part and a separator: `;`
 * is the byte after `:`, and no escaped part has `:;`, so `a:;` sorts after every `a::…` and equals no key.
 */
export const AFTER_SEPARATOR = ':;';

/** Whether a key is a partition key or a sort key: only sort keys must not have `#`, where document IDs are split. */
export type KeyRole = 'partition' | 'sort';

/** DynamoDB's limits in bytes of UTF-8; those of an index's keys are the same. */
export const KEY_BYTES = { partition: 2048, sort: 1024 } as const;

// A colon is ambiguous at either end of a part and beside another one; before `;` it would break the upper bound.
const AMBIGUOUS = {
  partition: /%|^:|:$|:(?=[:;])|(?<=:):/g,
  sort: /[%#]|^:|:$|:(?=[:;])|(?<=:):/g,
} as const;

/** Most parts have none of these, and are not escaped. */
const SPECIAL = /[%:#]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether UTF-8 can encode the text: lone surrogates would be replaced, which could make two keys one. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** The part as it is written in a key, with the few characters escaped that would be ambiguous (`%`, some `:`, `#`). */
export function escapePart(part: string, role: KeyRole): string {
  if (!SPECIAL.test(part)) return part;
  return part.replace(AMBIGUOUS[role], (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The part that is escaped to this text; undefined if there is none. */
export function unescapePart(text: string, role: KeyRole): string | undefined {
  if (!SPECIAL.test(text)) return text;
  const part = text.replace(/%(25|3A|23)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return escapePart(part, role) === text ? part : undefined;
}

/** Whether the text has at most `bytes` bytes of UTF-8, which is what DynamoDB counts. */
export function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || byteLength(text) <= bytes;
}

/** Length of the text's UTF-8 in bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
