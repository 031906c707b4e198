import { LONGEST_ROW, type Chunk } from './bytes.js';

const NEWLINE = 0x0a;

/** One line of a file, without its line feed. */
export interface Line {
  /** Starts from 1. */
  readonly number: number;
  /** Its offset in the file, in bytes. */
  readonly start: number;
  readonly length: number;
  /** Only the first bytes if the line is too long. */
  readonly bytes: Buffer;
}

/**
 * Splits chunks into lines, in batches: a generator of single lines would cost more than reading them. Only the start
 * of a line longer than `longest` bytes is kept; its `length` is still that of the whole line. Another `separator` than a
 * line feed makes lines of what is between it.
 */
export async function* readLines(
  chunks: AsyncIterable<Chunk>,
  longest = LONGEST_ROW,
  separator = NEWLINE,
): AsyncGenerator<readonly Line[]> {
  let pieces: Buffer[] = [];
  let start: number | undefined;
  let length = 0;
  let number = 1;
  const keep = (piece: Buffer): void => {
    if (length <= longest) pieces.push(piece);
    length += piece.length;
  };
  const take = (): Line => {
    const [only, ...more] = pieces;
    const bytes = only !== undefined && more.length === 0 ? only : Buffer.concat(pieces);
    const line = { number, start: start ?? 0, length, bytes };
    pieces = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const { start: chunkStart, bytes: chunk } of chunks) {
    const lines: Line[] = [];
    start ??= chunkStart;
    let from = 0;
    // Only a line feed ends a line: JSON allows U+2028 and U+2029 in strings, where readline would split.
    for (let at = chunk.indexOf(separator); at >= 0; at = chunk.indexOf(separator, from)) {
      keep(chunk.subarray(from, at));
      lines.push(take());
      from = at + 1;
      start = chunkStart + from;
    }
    keep(chunk.subarray(from));
    yield lines;
  }
  if (length > 0) yield [take()];
}
