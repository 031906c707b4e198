import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as () => void;

async function memory(): Promise<number> {
  // What has been settled is still referenced in this turn; buffers are freed after the objects that held them.
  for (let round = 0; round < 3; round++) {
    await setImmediate();
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The memory in bytes that `made` takes, of which `make` leaves nothing but its result. */
export async function memoryOf<T>(make: () => T | Promise<T>): Promise<{ readonly made: T; readonly bytes: number }> {
  const before = await memory();
  const made = await make();
  return { made, bytes: (await memory()) - before };
}
