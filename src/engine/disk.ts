import { statfs } from 'node:fs/promises';

/** A transaction of the engine may have 4 MB, and needs as much again for the log or journal. */
const LEAST_FREE_BYTES = 8 * 1024 * 1024;

/** A sentence if the data folder's disk has too little free space for the engine to write; otherwise undefined. */
export async function fullDisk(dataDir: string, leastBytes = LEAST_FREE_BYTES): Promise<string | undefined> {
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  if (free >= leastBytes) return undefined;
  return `the disk is full: ${Math.floor(free / 1_024)} KB left in ${dataDir}`;
}
