import { LONGEST_ROW, readBytes } from './bytes.js';
import { readJsonRow } from './json-row.js';
import { type Line, readLines } from './lines.js';
import { rowOffsetOf } from './row-offset.js';
import type { ReadValue, Row, RowReader } from './row.js';

const SHOWN_OF_LONG_LINE = 200;

/** The row of a line; nothing for a blank line. */
function rowsOf<C>({ number: line, start, length, bytes }: Line, read: ReadValue<C>, longest: number): Row<C>[] {
  if (length > longest) {
    const text = bytes.subarray(0, SHOWN_OF_LONG_LINE).toString();
    const content = { reason: `longer than ${longest} bytes` };
    return [{ line, start, length, checksum: 0, text, isJson: false, content }];
  }
  if (bytes.toString().trim() === '') return [];
  return [{ line, ...rowOffsetOf(start, bytes), ...readJsonRow(bytes, read) }];
}

/** Creates a reader for files with one JSON value of at most `longest` bytes per line; blank lines are skipped. */
export function valueReader<C>(path: string, read: ReadValue<C>, longest = LONGEST_ROW): RowReader<C> {
  return {
    async *rows() {
      for await (const lines of readLines(readBytes(path), longest))
        yield lines.flatMap((line) => rowsOf(line, read, longest));
    },
    contents: (rows) => rows.map((bytes) => readJsonRow(bytes, read).content),
  };
}
