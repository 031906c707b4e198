import { LONGEST_ROW, NOT_UTF8, decodeUtf8 } from './bytes.js';
import { parseExactly } from './exact-json.js';
import { type Line, readLines } from './lines.js';
import { rowOffsetOf } from './row-offset.js';
import { type ReadValue, type Invalid, type Row, type RowReader, contentOf } from './row.js';

const SHOWN_OF_LONG_LINE = 200;

/** What the text of a line says; `source` is the value it holds, or the text where it holds none. */
function readText<C>(text: string, read: ReadValue<C>): { readonly source: unknown; readonly content: C | Invalid } {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    return { source: text, content: { reason: `it is no JSON: ${(error as SyntaxError).message}` } };
  }
  return { source: value, content: contentOf(() => read(value)) };
}

/** The row of a line; none where it is empty. */
function rowsOf<C>({ number: line, start, length, bytes }: Line, read: ReadValue<C>, longest: number): Row<C>[] {
  if (length > longest) {
    const source = bytes.subarray(0, SHOWN_OF_LONG_LINE).toString();
    return [{ line, start, length, checksum: 0, source, content: { reason: `it is longer than ${longest} bytes` } }];
  }
  const text = decodeUtf8(bytes)?.trim();
  if (text === '') return [];
  const place = rowOffsetOf(start, bytes);
  if (text === undefined) return [{ line, ...place, source: bytes.toString('latin1'), content: { reason: NOT_UTF8 } }];
  return [{ line, ...place, ...readText(text, read) }];
}

/** Reads a file with one JSON value of at most so many bytes a line; empty lines are no rows. */
export function valueReader<C>(path: string, read: ReadValue<C>, longest = LONGEST_ROW): RowReader<C> {
  return {
    async *rows() {
      for await (const lines of readLines(path, longest)) yield lines.flatMap((line) => rowsOf(line, read, longest));
    },
    contents: (rows) => rows.map((bytes) => readText(bytes.toString().trim(), read).content),
  };
}
