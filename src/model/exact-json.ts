import { v4 as randomUuid } from 'uuid';

import { isStorable } from './dynamodb-limits.js';

/** Numbers as programs write them that JavaScript or DynamoDB would change, and those that JSON does not have. */
const MAY_CHANGE = /\d{16}|\d[eE][+-]?\d|\bnan\b|\binf(?:inity)?\b|\bnodata\b/i;
/** Strings are matched first, so that what is inside them is skipped. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|-?\b(?:nan|inf(?:inity)?|nodata)\b/gi;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NO_NUMBER = /^-?(?:nan|inf|nodata)/i;

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

/** Whether a JSON number is one that JavaScript and DynamoDB keep: neither too long an integer, nor too large or small. */
function isKept(token: string): boolean {
  const value = Number(token);
  return isStorable(value) && (value !== 0 || !/[1-9]/.test(token.replace(/e.*/i, '')));
}

/** The value of a JSON text, as `parseExactly` reads it; undefined if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/**
 * JSON.parse that changes no number: one that JavaScript or DynamoDB cannot keep, as well as NaN and Infinity, becomes
 * its text, and `onText` is called. Throws SyntaxError as JSON.parse does.
 */
export function parseExactly(text: string, onText?: () => void): unknown {
  if (!MAY_CHANGE.test(text)) return JSON.parse(text);
  const quoted = text.replace(STRING_OR_NUMBER, (token) => {
    if (token.startsWith('"') || !(JSON_NUMBER.test(token) ? !isKept(token) : NO_NUMBER.test(token))) return token;
    onText?.();
    return `"${token}"`;
  });
  return JSON.parse(quoted);
}
