import { systemClock } from '../../src/clock.js';
import type { CellSums } from '../../src/geo/cell-sums.js';
import { silentLog } from '../../src/log.js';
import { newCall, type Database } from '../../src/store/database.js';
import { applyToCells } from '../../src/stream/cells/apply.js';
import { openBlocks } from '../../src/stream/consume/derived-ports.js';

/**
 * Adds to the blocks of a collection, by parent and child, like the stream's consumer; returns the number of blocks
 * changed.
 */
export async function addCells(
  database: Database,
  scope: string,
  batch: number,
  blocks: ReadonlyMap<string, ReadonlyMap<string, CellSums>>,
): Promise<number> {
  const { signal } = new AbortController();
  const options = {
    port: openBlocks(newCall(database)),
    clock: systemClock,
    signal,
    log: silentLog,
    holds: () => true,
  };
  const applied = await applyToCells(options, batch, new Map([[scope, blocks]]));
  return applied.blocks;
}
