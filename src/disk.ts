import { statfs } from 'node:fs/promises';

/** A transaction of the embedded engine may have 4 MB, and needs as much again for the log or journal. */
const LEAST_FREE_BYTES = 8 * 1024 * 1024;

/** A sentence if the data folder's disk has too little free space to write; otherwise undefined. */
export async function fullDisk(dataDir: string, leastBytes = LEAST_FREE_BYTES): Promise<string | undefined> {
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  if (free >= leastBytes) return undefined;
  const [left, needed] = [free, leastBytes].map((bytes) => Math.floor(bytes / 1_024));
  return `the disk is full: ${left} KB left for the data folder, and writes need ${needed} KB; they resume once there is room`;
}
