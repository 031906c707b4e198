import { crc32 } from 'node:zlib';

/** Where a row stands in its source, and what it is known by when it is read again. */
export interface RowOffset {
  /** Bytes of the file before it; of a source that is no file, rows before it. */
  readonly start: number;
  /** In bytes. */
  readonly length: number;
  /** CRC-32 of its bytes. */
  readonly checksum: number;
}

/** The place of a row from its bytes. */
export function rowOffsetOf(start: number, bytes: Buffer): RowOffset {
  return { start, length: bytes.length, checksum: crc32(bytes) };
}

const BLOCK = 64 * 1024;

interface Block {
  readonly starts: Float64Array;
  readonly lengths: Uint32Array;
  readonly checksums: Uint32Array;
}

/** A list of places that only grows, in 16 bytes each, however many they are. */
export class RowOffsets {
  // Blocks, as one array that is made anew when it is full would be there twice for a moment.
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

  /** The place with this number, from 0. */
  at(number: number): RowOffset {
    const { starts, lengths, checksums } = this.#block(number);
    const at = number % BLOCK;
    return { start: starts[at] ?? 0, length: lengths[at] ?? 0, checksum: checksums[at] ?? 0 };
  }

  #block(number: number): Block {
    const block = this.#blocks[Math.floor(number / BLOCK)];
    if (block === undefined) throw new Error(`there is no place ${number} of ${this.#count}`);
    return block;
  }
}
