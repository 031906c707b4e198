import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { readBlocks } from '../../src/store/cell/blocks.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem, type MarkerInput } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { withFreshCollection, type FreshCollection } from './fresh-collection.js';
import type { Progress, WorkerOptions } from './worker.js';

/** Markers per write, as in an import. */
const WINDOW = 2_000;

/** The result of one load while the consumer is running. */
export interface Round {
  readonly writtenPerSecond: number;
  /** From the first write until all blocks include the last marker. */
  readonly foldedPerSecond: number;
  readonly batches: number;
  readonly blocksPerMarker: number;
}

async function load({ database, collection, now }: FreshCollection, markers: readonly MarkerInput[]): Promise<void> {
  for (let at = 0; at < markers.length; at += WINDOW) {
    const items = markers.slice(at, at + WINDOW).map((marker) => newMarkerItem(database, collection, marker, now));
    await putMarkersInBulk(newCall(database), items);
  }
}

const perSecond = (count: number, fromMs: number, toMs: number) => (count * 1_000) / (toMs - fromMs);

/** Markers per second that the same load writes without a consumer. */
export function measureLoadAlone(markers: readonly MarkerInput[]): Promise<number> {
  return withFreshCollection(async (tables) => {
    const begun = performance.now();
    await load(tables, markers);
    return perSecond(markers.length, begun, performance.now());
  });
}

/**
 * Loads markers in bulk while a consumer in a separate process updates the cells. Throws if the cells do not count all
 * markers in the end.
 */
export function measureThroughput(markers: readonly MarkerInput[]): Promise<Round> {
  return withFreshCollection(async (tables) => {
    const { database, engine } = tables;
    const options: WorkerOptions = { engine, tables: database.tables };
    // To profile the consumer: CELLPORT_BENCH_WORKER='--cpu-prof --cpu-prof-dir=…'.
    const own = process.env['CELLPORT_BENCH_WORKER']?.split(' ') ?? [];
    const worker = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(options)], {
      execArgv: ['--import', 'tsx', ...own],
    });
    const exited = once(worker, 'exit');
    try {
      // The first message: the record of the collection.
      const [ready] = (await once(worker, 'message')) as [Progress];
      let last = ready;
      const folded = new Promise<number>((resolve, reject) => {
        worker.on('message', (progress: Progress) => {
          last = progress;
          if (progress.records - ready.records >= markers.length) resolve(performance.now());
        });
        worker.once('exit', (code) => reject(new Error(`the consumer exited with code ${code}`)));
      });
      // Awaited after the load.
      folded.catch(() => undefined);
      const begun = performance.now();
      await load(tables, markers);
      const written = performance.now();
      const done = await folded;
      const [root] = await readBlocks(newCall(database), [{ scope: 'places', parent: '' }], true);
      const counted = [...(root?.children.values() ?? [])].reduce((sum, { count }) => sum + count, 0);
      if (counted !== markers.length) throw new Error(`the cells count ${counted} of ${markers.length} markers`);
      return {
        writtenPerSecond: perSecond(markers.length, begun, written),
        foldedPerSecond: perSecond(markers.length, begun, done),
        batches: last.batch - ready.batch,
        blocksPerMarker: (last.blocksWritten - ready.blocksWritten) / markers.length,
      };
    } finally {
      if (worker.connected) worker.disconnect();
      await exited;
    }
  });
}
