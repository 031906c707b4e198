import { badInput, CellportError } from '../../errors.js';
import { isWellFormed } from '../../keys/escape.js';
import type { Collection } from '../../model/collection.js';
import { isStorable } from '../../model/dynamodb-limits.js';
import type { Properties } from '../../model/marker.js';

/** DynamoDB nests 32 levels deep; the map of properties is one of them. */
const DEEPEST = 31;

/** Throws BAD_USER_INPUT for text that UTF-8 cannot encode. */
export function checkText(field: string, value: string): void {
  // DynamoDB would replace half a surrogate pair by U+FFFD without an error.
  if (!isWellFormed(value)) throw badInput(field, value, 'text of Unicode characters, without lone surrogates');
}

/** Validates optional text from a client; null for none. Throws BAD_USER_INPUT naming the field. */
export function readOptionalText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw badInput(field, value, 'text of Unicode characters');
  checkText(field, value);
  return value;
}

/** Throws BAD_USER_INPUT for a number that DynamoDB or JSON would change. */
export function checkNumber(field: string, value: number): void {
  if (isStorable(value)) return;
  if (!Number.isFinite(value)) throw badInput(field, value, 'a finite number');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw badInput(field, value, 'an integer of at most 53 bits, or text, so that no digit is lost');
  }
  throw badInput(field, value, 'a number between 1e-130 and 9.9e125 in magnitude');
}

/** Maximum length of a name in bytes of UTF-8. DynamoDB allows less than 64 KB; DynamoDB Local fails above this. */
const LONGEST_NAME = 50_000;

/**
 * Whether JSON.parse tells names apart that JSON writes with a backslash: from V8 12.8 to 14.6, in Node 23 to 26.10, it
 * may take one for another that begins with a backslash (https://github.com/nodejs/node/issues/63785).
 */
function readsEscapedNames(): boolean {
  JSON.parse('{"cellport":0,"\\\\":0}');
  return Object.keys(JSON.parse('{"cellport":0,"\\n":0}') as object)[1] === '\n';
}

const READS_ESCAPED_NAMES = readsEscapedNames();

/** Throws BAD_USER_INPUT for a name that DynamoDB would change or refuse, or that this Node may have misread. */
export function checkName(field: string, name: string): void {
  checkText(field, name);
  if (!READS_ESCAPED_NAMES && JSON.stringify(name).includes('\\')) {
    const allowed = 'a name without quotes, backslashes and control characters';
    throw badInput(field, name, `${allowed}, which Node ${process.version} may misread (20, 22 and 26.12 do not)`);
  }
  if (Buffer.byteLength(name) > LONGEST_NAME) throw badInput(field, name, `a name of at most ${LONGEST_NAME} bytes`);
}

const LONGEST_NAME_SHOWN = 80;

/** The path of a property or value for messages, kept short whatever a client sends. */
export function pathTo(field: string, name: string): string {
  return `${field}.${name.length > LONGEST_NAME_SHOWN ? `${name.slice(0, LONGEST_NAME_SHOWN)}…` : name}`;
}

function check(field: string, value: unknown, depth: number): void {
  if (typeof value === 'string') return checkText(field, value);
  if (typeof value === 'number') return checkNumber(field, value);
  if (typeof value === 'boolean' || value === null) return;
  if (typeof value !== 'object') throw badInput(field, value, 'JSON');
  if (depth > DEEPEST) throw badInput(field, '…', `nested at most ${DEEPEST} levels deep`);
  if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      // Without its path, which takes longer.
      if (!Number.isSafeInteger(entry)) check(`${field}[${index}]`, entry, depth + 1);
    });
    return;
  }
  for (const [name, entry] of Object.entries(value)) {
    checkName(field, name);
    check(pathTo(field, name), entry, depth + 1);
  }
}

/**
 * Validates a client's properties: a JSON object that DynamoDB stores without loss. Throws BAD_USER_INPUT naming the
 * path of a value that it cannot store: integers of more than 53 bits, lone surrogates, names over 50,000 bytes, 32 or
 * more levels.
 */
export function readProperties(field: string, value: unknown): Properties {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badInput(field, value, 'a JSON object');
  }
  check(field, value, 1);
  return value as Properties;
}

/** The same for someone who may not see all properties. Throws FORBIDDEN for one that is hidden from them. */
export function readShown({ grant }: Collection, field: string, value: unknown): Properties {
  const properties = readProperties(field, value);
  const hidden = Object.keys(properties).find((name) => grant?.hidden.has(name));
  if (hidden === undefined) return properties;
  throw new CellportError('FORBIDDEN', `you may not write ${pathTo(field, hidden)}`, { field: pathTo(field, hidden) });
}
