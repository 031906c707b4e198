import { v4 as randomUuid } from 'uuid';

/** Sixteen digits: the length of the smallest integers that a JavaScript number cannot represent exactly. */
const LONG_NUMBER = /\d{16}/;
/** Strings are matched first, so that digits inside them are skipped. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE_NUMBER = /^-?\d+$/;

/** JSON.stringify that writes a bigint as an integer. */
export function writeExactly(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Contains a bigint: the data have no cycles, the only other reason to throw.
  }
  const mark = `${randomUuid()}:`;
  const marked = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${mark}${part}` : part));
  return marked.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/**
 * JSON.parse that keeps all digits of integers: those that a JavaScript number cannot represent become bigint. Throws
 * SyntaxError as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  // Node 20's reviver does not get the source text of a number, so long integers become strings with a unique mark.
  const mark = `${randomUuid()}:`;
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    WHOLE_NUMBER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  try {
    return JSON.parse(marked, (_key, value: unknown) =>
      typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
    );
  } catch (error) {
    // Unlike JSON.parse itself, the reviver is called recursively.
    throw error instanceof RangeError ? new SyntaxError('it is nested too deeply') : error;
  }
}
