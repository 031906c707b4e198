import { NOT_UTF8, decodeUtf8 } from './bytes.js';
import { parseExactly } from '../rows/exact-json.js';
import { type Invalid, type ReadValue, type RowText, contentOf } from './row.js';

/** Parses a row from the bytes of a JSON value. */
export function readJsonRow<C>(
  bytes: Buffer,
  read: ReadValue<C>,
): Pick<RowText, 'text' | 'isJson'> & { readonly content: C | Invalid } {
  const text = decodeUtf8(bytes)?.trim();
  if (text === undefined) return { text: bytes.toString('latin1'), isJson: false, content: { reason: NOT_UTF8 } };
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    return { text, isJson: false, content: { reason: `invalid JSON: ${(error as SyntaxError).message}` } };
  }
  return { text, isJson: true, content: contentOf(() => read(value)) };
}
