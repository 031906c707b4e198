import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';

import { CHUNK_BYTES, isGzip, unzipped } from './gzip.js';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Maximum length of a row in bytes. A DynamoDB item has at most 400 KB, so a longer row lacks a closing quote or
 * bracket.
 */
export const LONGEST_ROW = 8 * 1024 * 1024;

/** A part of a file. */
export interface Chunk {
  /** Its offset, in bytes. */
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Yields the bytes of a file in chunks, decompressed and without a byte order mark; offsets are those of the
 * decompressed bytes. Rejects with errors of the file system, or BAD_USER_INPUT for a broken gzip file.
 */
export async function* readBytes(path: string): AsyncGenerator<Chunk> {
  let start = 0;
  const bytes = isGzip(path) ? unzipped(path) : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    // The mark has three bytes, a chunk 64 KB, so it is never split.
    const marked = start === 0 && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const skipped = marked ? BYTE_ORDER_MARK.length : 0;
    yield { start: start + skipped, bytes: chunk.subarray(skipped) };
    start += chunk.length;
  }
}

/** The text of UTF-8 bytes; undefined, rather than text with replacement characters, if they are not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

export const NOT_UTF8 = 'not UTF-8 text; pass --encoding, e.g. windows-1252';
