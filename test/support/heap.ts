import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes by which memory changes although nothing is freed. */
const NOISE = 64 * 1024;

/** Memory in bytes after garbage collection, of what tests before this one in the same process left behind, too. */
async function settledMemory(): Promise<number> {
  let least = Infinity;
  // What has been settled is still referenced in this turn; buffers are freed after the objects that held them, and what
  // finalizers and timers hold goes later.
  for (let quiet = 0; quiet < 3; quiet++) {
    await setTimeout(1);
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    if (heapUsed + external < least - NOISE) quiet = -1;
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

/** The memory in bytes that `made` takes, of which `make` leaves nothing but its result. */
export async function memoryOf<T>(make: () => T | Promise<T>): Promise<{ readonly made: T; readonly bytes: number }> {
  const before = await settledMemory();
  const made = await make();
  return { made, bytes: (await settledMemory()) - before };
}
