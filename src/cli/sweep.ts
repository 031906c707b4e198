import type { Config } from '../config.js';
import { badInput } from '../errors.js';
import { createLog } from '../log.js';
import { newCall } from '../store/request/meter.js';
import { checkTables } from '../store/table/table-check.js';
import { sweepObjects } from '../store/zone/zone-removal.js';
import { withBackend } from '../server/backend.js';
import { duration, grouped } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

/** `sweep`: removes the objects in the object store that no zone has and that are older than so many minutes. */
export async function sweep(config: Config, { olderThan }: { readonly olderThan: number }): Promise<void> {
  warnOfUnknown(config, createLog(config.logLevel));
  const stop = onStop();
  try {
    await withBackend(config, async ({ database, objects }) => {
      if (objects === undefined)
        throw badInput('CELLPORT_OBJECTS', undefined, 'set: there is no object store to sweep');
      await checkTables(database);
      const began = performance.now();
      const before = new Date(Date.now() - olderThan * 60_000);
      const { objects: looked, removed } = await sweepObjects(database, objects, before, newCall(stop.signal));
      const took = duration(performance.now() - began);
      console.log(`${grouped(looked)} objects in ${objects.place}, ${grouped(removed)} of them removed in ${took}`);
    });
  } finally {
    stop.release();
  }
}
