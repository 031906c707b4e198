import { LONGEST_ROW, readBytes } from './bytes.js';

const NEWLINE = 0x0a;

/** One line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Bytes of the file up to the end of this line. */
  readonly end: number;
  readonly length: number;
  /** Only the beginning, where the line is longer than a row may be. */
  readonly bytes: Buffer;
}

/** The lines of a file. A line is held only up to the longest row; its length is true all the same. */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  let end = 0;
  const keep = (piece: Buffer): void => {
    if (length <= LONGEST_ROW) pieces.push(piece);
    length += piece.length;
  };
  const take = (): Line => {
    const line = { number, end, length, bytes: Buffer.concat(pieces) };
    pieces = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const chunk of readBytes(path)) {
    const before = end;
    let from = 0;
    // Only the line feed ends a line: JSON allows U+2028 and U+2029 inside strings, and readline would cut there.
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, at));
      from = at + 1;
      end = before + from;
      yield take();
    }
    keep(chunk.subarray(from));
    end = before + chunk.length;
  }
  if (length > 0) yield take();
}
