import { crc32 } from 'node:zlib';

import { CellportError } from '../../errors.js';
import { InvalidRow } from '../rows/fields.js';
import type { TextForm } from './text.js';

/** The position of a row in its source, with a checksum to verify it when it is read again. */
export interface RowOffset {
  /** Bytes before it in the file; rows before it if the source is not a file. */
  readonly start: number;
  /** Length in bytes. */
  readonly length: number;
  /** CRC-32 of its bytes. */
  readonly checksum: number;
}

/** The offset record of a row with these bytes. */
export function rowOffsetOf(start: number, bytes: Buffer): RowOffset {
  return { start, length: bytes.length, checksum: crc32(bytes) };
}

const BLOCK = 64 * 1024;

interface Block {
  readonly starts: Float64Array;
  readonly lengths: Uint32Array;
  readonly checksums: Uint32Array;
}

/** An append-only list of offsets in 16 bytes each. */
export class RowOffsets implements Iterable<RowOffset> {
  // In blocks, because growing a single array would need its memory twice.
  readonly #blocks: Block[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push({ start, length, checksum }: RowOffset): void {
    const at = this.#count % BLOCK;
    if (at === 0) {
      this.#blocks.push({
        starts: new Float64Array(BLOCK),
        lengths: new Uint32Array(BLOCK),
        checksums: new Uint32Array(BLOCK),
      });
    }
    const { starts, lengths, checksums } = this.#block(this.#count);
    starts[at] = start;
    lengths[at] = length;
    checksums[at] = checksum;
    this.#count += 1;
  }

  /** The offset with this index, starting from 0. */
  at(number: number): RowOffset {
    const { starts, lengths, checksums } = this.#block(number);
    const at = number % BLOCK;
    return { start: starts[at] ?? 0, length: lengths[at] ?? 0, checksum: checksums[at] ?? 0 };
  }

  *[Symbol.iterator](): Generator<RowOffset> {
    for (let number = 0; number < this.#count; number += 1) yield this.at(number);
  }

  #block(number: number): Block {
    const block = this.#blocks[Math.floor(number / BLOCK)];
    if (block === undefined) throw new Error(`no offset at index ${number}; the list has ${this.#count}`);
    return block;
  }
}

/** An invalid row. */
export interface Invalid {
  readonly reason: string;
  /** What it is instead, if another import takes it. */
  readonly skipped?: InvalidRow['skipped'];
}

export function isInvalid<C extends object>(content: C | Invalid): content is Invalid {
  return 'reason' in content;
}

/** The text of a row, for the rejects file. */
export interface RowText {
  /** The line of the file on which it begins, starting from 1; the number of the row if the file is one line. */
  readonly line: number;
  /** The row as in the file. */
  readonly text: string;
  /** Whether the text is JSON. */
  readonly isJson: boolean;
}

/** One row of a file. */
export interface Row<C> extends RowOffset, RowText {
  readonly content: C | Invalid;
  /** Numbers that became text, so that they are not changed. */
  readonly texts?: number;
}

/** Reads the rows of a file in one format. */
export interface RowReader<C> {
  /** All rows in order, in batches. Throws BAD_USER_INPUT if the file as a whole is not of the format. */
  rows(): AsyncGenerator<readonly Row<C>[]>;
  /** How the file is written; rows have the bytes and offsets of its text in UTF-8 with line feeds. */
  form(): Promise<TextForm>;
  /** What was guessed about the whole file, for people; call after `rows` is complete. */
  notes(): Promise<readonly string[]>;
  /** The contents of valid rows from their bytes; call after `rows` is complete. */
  contents(rows: readonly Buffer[]): readonly (C | Invalid)[];
}

/** Creates the content of a row from a JSON value. Throws InvalidRow or CellportError. */
export type ReadValue<C> = (value: unknown) => C;

/** The result of `make`, or the reason if it throws InvalidRow or CellportError. */
export function contentOf<C>(make: () => C): C | Invalid {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidRow) return { reason: error.message, skipped: error.skipped };
    if (error instanceof CellportError) return { reason: error.message };
    throw error;
  }
}

/** Rows that can be read twice: all of them in order, then any of them by their offsets. */
export interface RowSource<C> {
  /** The end of the offsets: bytes of a file, or the number of rows. */
  readonly size: number;
  /** All rows, in batches. Memory does not grow with the source. */
  scan(): AsyncIterable<readonly Row<C>[]>;
  /** The contents of scanned rows at these offsets, in this order. Throws CONFLICT if the source has changed since. */
  read(offsets: readonly RowOffset[]): Promise<readonly C[]>;
  close(): Promise<void>;
}

/** The same rows, each passed to `onRow` while they are scanned. */
export function watched<C>(rows: RowSource<C>, onRow: (row: Row<C>) => void): RowSource<C> {
  return {
    size: rows.size,
    async *scan() {
      for await (const some of rows.scan()) {
        some.forEach(onRow);
        yield some;
      }
    },
    read: (offsets) => rows.read(offsets),
    close: () => rows.close(),
  };
}
