import { geoIndexOf } from '../keys/indexes.js';
import type { Collection, GeoLayout } from '../model/collection.js';
import { allPrefixes, hasFewPartitions } from '../store/cell/partition-prefixes.js';
import { mapConcurrently } from '../store/request/concurrency.js';
import { queryPages } from '../store/request/query-pages.js';
import { rangeRequest } from '../store/request/ranges.js';
import { fitMarkers } from './fit-markers.js';
import type { Phase } from './layout-phase.js';
import { paceWrites } from './pace.js';

const PARTITIONS_AT_A_TIME = 8;
const ENTRIES_A_PAGE = 100;

/** Fits every marker in a geo index to its phase; returns how many changes that took. */
export async function walkOnce(now: Phase, layout: GeoLayout): Promise<number> {
  const { options, collection, change, job, call } = now;
  const { worker, occupied, maxWcu, onProgress } = options;
  const { database, clock } = worker;
  const { keys } = database;
  const { phase, step } = change;
  const { signal } = call;
  const pace = paceWrites(call.meter, maxWcu, clock);
  let markers = 0;
  let changed = 0;
  let part = 0;
  const tell = () => onProgress({ phase, markers, changed, part });

  async function walkPartition(pk: string): Promise<void> {
    const request = rangeRequest(database, { index: geoIndexOf(layout.geoSlot), pk, limit: ENTRIES_A_PAGE });
    for await (const entries of queryPages(database, request, call)) {
      const changes = await fitMarkers(now, entries);
      changed += changes;
      markers += entries.length;
      // Most markers may be in one partition.
      tell();
      await pace(signal);
    }
  }

  const own: Collection = { ...collection, ...layout };
  const isWhole = hasFewPartitions(own);
  const prefixes = isWhole ? allPrefixes(own) : await occupied(own, signal);
  // Progress is 1 when the phase has settled. Prefixes of cells have other numbers in each run, which begins again.
  const begin = isWhole ? Math.max(0, job.done(step) - 1) : 0;
  part = begin / Math.max(1, prefixes.total);
  tell();
  let wave: string[] = [];
  async function flush(next: number): Promise<void> {
    const partitions = wave.flatMap((prefix) => keys.spreadPartitions(keys.scope(own), own, prefix).flat());
    wave = [];
    await mapConcurrently(partitions, PARTITIONS_AT_A_TIME, walkPartition);
    if (isWhole) job.reach(next + 1, step);
    part = prefixes.total === 0 ? 1 : next / prefixes.total;
    tell();
  }
  for (const { number, prefix } of prefixes.list(begin)) {
    wave.push(prefix);
    if (wave.length >= PARTITIONS_AT_A_TIME) await flush(number + 1);
  }
  await flush(prefixes.total);
  return changed;
}
