import type { Bounds } from '../src/geo/bounds.js';
import { Budget } from '../src/loaders/budget.js';
import { uniteRanges } from '../src/loaders/range-loader.js';
import type { Collection } from '../src/model/collection.js';
import type { KeyRange } from '../src/model/key-range.js';
import { rangeKeys } from '../src/plan/explain.js';
import { coverForPlan, planMarkers } from '../src/plan/markers.js';
import { Loaders } from '../src/read/loaders.js';
import { createServices } from '../src/server/services.js';
import { newCall } from '../src/store/database.js';
import { areaOf } from './rig/measure-views.js';
import type { Rig } from './rig/rig.js';
import { quantile, shown } from './rig/statistics.js';
import type { Row } from './section.js';

const MAPS: readonly Bounds[] = Array.from({ length: 20 }, (_, n) => ({
  west: 8 + n * 0.05,
  south: 48,
  east: 9 + n * 0.05,
  north: 49,
}));
const ROUNDS = 30;
const ALL = { limit: Infinity, maxCalls: Infinity };
const BUDGET = new Budget(Infinity, Infinity);

/** A range of one partition, identified by its prefix. */
interface Wanted {
  readonly prefix: string;
  readonly range: KeyRange;
}

/** The ranges of all maps, each planned separately. */
function rangesOf({ db }: Rig, collection: Collection): Wanted[] {
  const { prefixLength } = collection;
  return MAPS.flatMap((bounds) => {
    const { ranges } = planMarkers({
      cover: coverForPlan(areaOf({ name: '', zoom: 9, bounds })),
      prefixLength,
      ceiling: 64,
    });
    return ranges.flatMap((planned) =>
      rangeKeys(planned, collection, db.keys).map((range) => ({ prefix: planned.prefix, range })),
    );
  });
}

/** The union of ranges. */
function unionOf(wanted: readonly Wanted[]): Wanted[] {
  const prefixes = new Map(wanted.map(({ prefix, range }) => [range.pk, prefix]));
  const requests = wanted.map(({ range }) => ({ range, ...ALL }));
  return uniteRanges(requests).map(({ range }) => ({ prefix: prefixes.get(range.pk) ?? '', range }));
}

/** Loads ranges in one tick through a request's loaders. Returns the milliseconds until all are loaded. */
async function read({ db }: Rig, collection: Collection, wanted: readonly Wanted[]): Promise<number> {
  const now = () => performance.now();
  const services = createServices(db, { cacheBytes: 0 });
  const loaders = new Loaders(services, { ...newCall(db), unpriced: true });
  const begun = now();
  await Promise.all(
    wanted.map(({ range }) => loaders.index.load(collection, { range, limit: Infinity, budget: BUDGET })),
  );
  return now() - begun;
}

/** Twenty overlapping maps loaded in one tick, compared to the union of their ranges: Query calls and time. */
export async function overlapping(rig: Rig, collection: Collection, quick: boolean): Promise<readonly Row[]> {
  const maps = rangesOf(rig, collection);
  const one = unionOf(maps);
  const queries = async (wanted: readonly Wanted[]) => {
    rig.resetWire();
    await read(rig, collection, wanted);
    return rig.wire.queries;
  };
  const together = await queries(maps);
  const union = await queries(one);
  const rows: Row[] = [
    {
      what: 'Query calls of 20 overlapping viewports in one tick',
      bar: 'those of their union',
      measured: String(together),
      against: `union ${union}`,
      holds: together <= union,
    },
  ];
  if (quick) return rows;
  const times: { readonly together: number; readonly union: number }[] = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const pair = { together: await read(rig, collection, maps), union: await read(rig, collection, one) };
    // The first half warms up the compilers of both.
    if (round >= ROUNDS) times.push(pair);
  }
  const ours = quantile(
    times.map((pair) => pair.together),
    0.5,
  );
  const least = quantile(
    times.map((pair) => pair.union),
    0.5,
  );
  rows.push({
    what: 'their time, p50',
    bar: 'at most 1.2 times',
    measured: `${shown(ours)} ms, ${shown(ours / least, 2)} times`,
    against: `union ${shown(least)} ms`,
    holds: ours <= 1.2 * least,
  });
  return rows;
}
