import { NOT_UTF8, decodeUtf8 } from './bytes.js';
import { parseExactly } from './exact-json.js';
import { type Invalid, type ReadValue, contentOf } from './row.js';

/** A row from the bytes of a JSON value; `source` is the value, or the text if it is not JSON. */
export function readJsonRow<C>(
  bytes: Buffer,
  read: ReadValue<C>,
): { readonly source: unknown; readonly content: C | Invalid } {
  const text = decodeUtf8(bytes)?.trim();
  if (text === undefined) return { source: bytes.toString('latin1'), content: { reason: NOT_UTF8 } };
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    return { source: text, content: { reason: `invalid JSON: ${(error as SyntaxError).message}` } };
  }
  return { source: value, content: contentOf(() => read(value)) };
}
