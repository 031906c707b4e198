import { crc32 } from 'node:zlib';

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
