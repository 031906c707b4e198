import type { Config } from '../config.js';
import { CellportError } from '../errors.js';
import { createLog } from '../log.js';
import { checkTables } from '../store/table/table-check.js';
import { withBackend } from '../server/backend.js';
import { recountCells } from '../server/cells.js';
import { duration, grouped } from './progress.js';
import { warnOfUnknown } from './serve.js';
import { onStop } from './stop.js';

/**
 * `recount`: counts all markers anew and puts the cells right, which ends a gap; with `check` it changes nothing and fails
 * where a cell is not what it has to be.
 */
export async function recountAll(config: Config, { check }: { readonly check: boolean }): Promise<void> {
  const log = createLog(config.logLevel);
  warnOfUnknown(config, log);
  const stop = onStop();
  try {
    await withBackend(config, async (backend) => {
      await checkTables(backend.database);
      const began = performance.now();
      const { markers, blocks, drifted } = await recountCells(backend, log, check, stop.signal);
      const took = duration(performance.now() - began);
      const wrong = `${grouped(drifted.length)} of ${grouped(blocks)} blocks`;
      if (check && drifted.length > 0) {
        throw new CellportError('CONFLICT', `${wrong} differ from the ${grouped(markers)} markers; recount mends them`);
      }
      console.log(`${grouped(markers)} markers counted in ${took}: ${wrong} ${check ? 'differ' : 'were put right'}`);
    });
  } finally {
    stop.release();
  }
}
