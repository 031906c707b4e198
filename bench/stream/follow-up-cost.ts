import { setTimeout as sleep } from 'node:timers/promises';

import { loadStreamState } from '../../src/store/cell/stream-state.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { pointsAroundOneCity } from '../rig/points.js';
import { withFreshCollection } from './fresh-collection.js';
import { consumerOf } from './keep-cells.js';
import { countWriteUnits } from './write-units.js';

/**
 * Write units of the consumer for one marker, and then for `many` in the same city, in a collection that was empty: from
 * their creation until its state reports completion, including heartbeats.
 */
export function measureFollowUp(seed: number, many: number): Promise<{ one: number; batch: number }> {
  return withFreshCollection(async ({ engine, database, collection, now }) => {
    const metered = createDatabase({ ...engine, tables: database.tables, keyStyle: 'readable' });
    const units = countWriteUnits(metered);
    const stop = new AbortController();
    const running = consumerOf(metered, engine).run(stop.signal);

    async function complete(records: number): Promise<void> {
      for (;;) {
        const state = await loadStreamState(newCall(database), 'cells');
        if (state !== undefined && state.records >= records && state.plan === null) return;
        await sleep(20);
      }
    }

    // The record of the collection itself also counts.
    let records = 1;
    async function costOf(count: number, turn: number): Promise<number> {
      const markers = pointsAroundOneCity(count, seed);
      await complete(records);
      const before = units();
      const items = markers.map((marker) =>
        newMarkerItem(database, collection, { ...marker, key: `${turn}-${marker.key}` }, now),
      );
      await putMarkersInBulk(newCall(database), items);
      await complete((records += count));
      return units() - before;
    }

    try {
      // The least of three, as a machine that is held up by other work costs retries and heartbeats.
      const ones = [await costOf(1, 1), await costOf(1, 2), await costOf(1, 3)];
      return { one: Math.min(...ones), batch: await costOf(many, 4) };
    } finally {
      stop.abort();
      await running;
      metered.client.destroy();
    }
  });
}
