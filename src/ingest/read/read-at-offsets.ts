import type { FileHandle } from 'node:fs/promises';

import { mapConcurrently } from '../../store/request/pacing.js';
import type { RowOffset } from './row.js';

/** Maximum number of unneeded bytes to read; beyond this, another read costs less. */
const WIDEST_GAP = 16 * 1024;
const LONGEST_READ = 1024 * 1024;
const READS_AT_A_TIME = 16;

/** A contiguous part of the file that is read in one call. */
interface Stretch {
  readonly start: number;
  end: number;
  /** Indexes of its rows in the list of offsets. */
  readonly numbers: number[];
}

function stretchesOf(offsets: readonly RowOffset[]): Stretch[] {
  const sorted = offsets.map(({ start, length }, number) => ({ start, end: start + length, number }));
  sorted.sort((a, b) => a.start - b.start);
  const stretches: Stretch[] = [];
  for (const { start, end, number } of sorted) {
    const last = stretches.at(-1);
    if (last !== undefined && start - last.end <= WIDEST_GAP && end - last.start <= LONGEST_READ) {
      last.end = Math.max(last.end, end);
      last.numbers.push(number);
    } else {
      stretches.push({ start, end, numbers: [number] });
    }
  }
  return stretches;
}

/** Reads the bytes of rows at these offsets, in this order; fewer if a row extends beyond the end of the file. */
export async function readAtOffsets(file: FileHandle, offsets: readonly RowOffset[]): Promise<Buffer[]> {
  const found: Buffer[] = [];
  await mapConcurrently(stretchesOf(offsets), READS_AT_A_TIME, async ({ start, end, numbers }) => {
    const buffer = Buffer.allocUnsafe(end - start);
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    for (const number of numbers) {
      const offset = offsets[number];
      if (offset === undefined) continue;
      const at = offset.start - start;
      found[number] = buffer.subarray(Math.min(at, filled), Math.min(at + offset.length, filled));
    }
  });
  return found;
}
