import { statfs } from 'node:fs/promises';

/** The engine's transactions have up to 4 MB, and need as much again for the log or journal. */
const LEAST_FREE_BYTES = 8 * 1024 * 1024;

/** A sentence if the disk of a data folder has too little space for the engine to write; undefined otherwise. */
export async function fullDisk(dataDir: string, leastBytes = LEAST_FREE_BYTES): Promise<string | undefined> {
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  if (free >= leastBytes) return undefined;
  return `the disk is full: ${Math.floor(free / 1_024)} KB left for ${dataDir}`;
}
