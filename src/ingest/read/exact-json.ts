import { randomUUID } from 'node:crypto';

/** Sixteen digits in a row: the shortest whole number that a JavaScript number may fail to hold. */
const LONG_NUMBER = /\d{16}/;
/** Strings first, so that digits inside them are passed over. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE_NUMBER = /^-?\d+$/;

/** JSON.stringify that writes a bigint as the whole number it is. */
export function writeExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Only bigints make it throw: what comes from the database has no circles.
  }
  const mark = `${randomUUID()}:`;
  const marked = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${mark}${part}` : part));
  return marked.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/**
 * JSON.parse that never changes a whole number: one that a JavaScript number cannot hold comes as a bigint, with all its
 * digits, so that ids stay what they are and other uses can refuse it. Throws SyntaxError as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  // Node 20's reviver does not see a number's source text, so such numbers travel as strings under a mark that no file can hold.
  const mark = `${randomUUID()}:`;
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    WHOLE_NUMBER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
