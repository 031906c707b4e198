import { setTimeout as sleep } from 'node:timers/promises';

import { shuffledOrder } from '../../src/ingest/markers/order.js';
import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem, type MarkerInput } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { withFreshCollection } from './fresh-collection.js';
import { consumerOf } from './keep-cells.js';
import { countWriteUnits } from './write-units.js';

/** Markers per write, as in an import. */
const WINDOW = 2_000;

/** The consumer's writes for a load into a new collection. */
export interface FirstLoad {
  readonly units: number;
  readonly batches: number;
  readonly loadedMs: number;
  /** From the first write until cells and pages include the last marker. */
  readonly foldedMs: number;
}

/** Loads markers into a new collection, shuffled like an import, while a consumer updates its cells and pages. */
export function measureFirstLoad(markers: readonly MarkerInput[], seed: number): Promise<FirstLoad> {
  const order = [...shuffledOrder(markers.length, seed)].flatMap((index) => markers[index] ?? []);
  return withFreshCollection(async ({ engine, database, collection, now }) => {
    const metered = createDatabase({ ...engine, tables: database.tables, keyStyle: 'readable' });
    const units = countWriteUnits(metered);
    const consumer = consumerOf(metered, engine);
    const stop = new AbortController();
    const running = consumer.run(stop.signal);
    try {
      const begun = performance.now();
      for (let at = 0; at < markers.length; at += WINDOW) {
        const items = order.slice(at, at + WINDOW).map((marker) => newMarkerItem(database, collection, marker, now));
        await putMarkersInBulk({ ...newCall(database), unpriced: true }, items);
      }
      const loadedMs = performance.now() - begun;
      for (;;) {
        const state = await loadStreamState(newCall(database), 'cells');
        // The record of the collection itself also counts.
        if (state !== undefined && state.records > markers.length && state.plan === null) break;
        await sleep(50);
      }
      return {
        units: units(),
        batches: consumer.status().batch,
        loadedMs,
        foldedMs: performance.now() - begun,
      };
    } finally {
      stop.abort();
      await running;
      metered.client.destroy();
    }
  });
}
