import type { FileHandle } from 'node:fs/promises';

import { mapConcurrently } from '../../store/request/concurrency.js';
import type { RowOffset } from './row-offset.js';

/** Reading this many bytes that nobody wants costs less than another read. */
const WIDEST_GAP = 16 * 1024;
const LONGEST_READ = 1024 * 1024;
const READS_AT_A_TIME = 16;

/** Places that are read together. */
interface Stretch {
  readonly start: number;
  end: number;
  /** Numbers of the places in it. */
  readonly numbers: number[];
}

function stretchesOf(places: readonly RowOffset[]): Stretch[] {
  const sorted = places.map(({ start, length }, number) => ({ start, end: start + length, number }));
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

/** The bytes at some places of a file, in that order; those of a place beyond its end are fewer. */
export async function readAtOffsets(file: FileHandle, places: readonly RowOffset[]): Promise<Buffer[]> {
  const found: Buffer[] = [];
  await mapConcurrently(stretchesOf(places), READS_AT_A_TIME, async ({ start, end, numbers }) => {
    const buffer = Buffer.allocUnsafe(end - start);
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    for (const number of numbers) {
      const place = places[number];
      if (place === undefined) continue;
      const at = place.start - start;
      found[number] = buffer.subarray(Math.min(at, filled), Math.min(at + place.length, filled));
    }
  });
  return found;
}
