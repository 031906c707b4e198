/** Stands between the parts of a key. */
export const SEPARATOR = '::';

/**
 * Put after a part, the upper bound of a BETWEEN that takes in everything that goes on after that part: `;` is the byte
 * after `:`, and no escaped part holds `:;`, so `a:;` sorts after every `a::…` and equals no key.
 */
export const AFTER_SEPARATOR = ':;';

/** Whether a key is a partition key or a sort key: only sort keys may hold no `#`, where document ids are cut. */
export type KeyRole = 'partition' | 'sort';

/** DynamoDB's limits in bytes of UTF-8; those of an index's keys are the same. */
export const KEY_BYTES = { partition: 2048, sort: 1024 } as const;

// A colon is ambiguous at either end of a part and beside another one; before `;` it would break the upper bound.
const AMBIGUOUS = {
  partition: /%|^:|:$|:(?=[:;])|(?<=:):/g,
  sort: /[%#]|^:|:$|:(?=[:;])|(?<=:):/g,
} as const;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether UTF-8 can write the text: a lone surrogate would be replaced on its way, and two keys become one. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** The part as it stands in a key: itself, but for the few characters that would be ambiguous (`%`, some `:`, `#`). */
export function escapePart(part: string, role: KeyRole): string {
  return part.replace(AMBIGUOUS[role], (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The part that was escaped to this text; undefined where no part is written so. */
export function unescapePart(text: string, role: KeyRole): string | undefined {
  const part = text.replace(/%(25|3A|23)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return escapePart(part, role) === text ? part : undefined;
}

/** Length in bytes of UTF-8, which is what DynamoDB's limits count. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
