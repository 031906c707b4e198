import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { type CellportError, limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';
import type { Marker } from '../model/marker.js';
import { DAY_MS, type Reading, areApart, partitionsOf } from '../model/reading.js';
import type { Database } from '../store/database.js';
import { type MarkerReference, getMarkers } from '../store/marker/markers.js';
import type { Call } from '../store/request/meter.js';
import {
  type MarkerWithReadings,
  type ReadingsWanted,
  readMarkerWithReadings,
  readReadingsOf,
} from '../store/reading/readings.js';
import { afterTurns } from '../turns.js';
import { ifPossible } from './impossible-keys.js';

/** Identifies a marker. */
export type MarkerName = MarkerReference;

/** Limits the Query calls for readings, and the items skipped in search of them. */
export type ReadingLimits = Pick<Limits, 'readingQueries' | 'itemsPerField'>;

/** Reads markers by key, and their readings. */
export interface MarkerLoader {
  marker(name: MarkerName): Promise<Marker | null>;
  /** `current`: the marker returned with them must be as of its last write. */
  readings(name: MarkerName, wanted: ReadingsWanted, current?: boolean): Promise<readonly Reading[]>;
}

export interface MarkerLoaderOptions {
  readonly db: Database;
  readonly call: Call;
  readonly slots: LimitFunction;
  readonly limits: ReadingLimits;
  readonly now: () => Date;
}

/** A request for a marker, or for its readings. */
interface Asked {
  readonly name: MarkerName;
  readonly wanted: ReadingsWanted | undefined;
  readonly current?: boolean | undefined;
}

/** Everything requested about one marker in one tick. */
interface Group {
  readonly name: MarkerName;
  readonly asked: Asked[];
  /** The requested readings that come with the marker: they have no upper end, and are in its partition. */
  readonly latest: ReadingsWanted[];
}

const nameOf = ({ collection, key }: MarkerName) => `${collection.key}\n${key}`;

const comesWithMarker = ({ collection }: MarkerName, { to }: ReadingsWanted) =>
  to === undefined && !areApart(collection);

/** The number of Query calls that the readings of a marker may take. */
function mostQueries({ collection }: MarkerName, { from }: ReadingsWanted, now: number): number {
  const days = (now - Date.parse(from ?? '')) / DAY_MS;
  const kept = collection.readingsTtlDays ?? 0;
  return partitionsOf(collection, days < kept ? Math.max(0, days) : kept);
}

const keyOf = ({ name, wanted }: Asked) =>
  wanted === undefined ? nameOf(name) : JSON.stringify([nameOf(name), wanted.last, wanted.from, wanted.to]);

function groupsOf(asked: readonly Asked[]): Group[] {
  const groups = new Map<string, Group>();
  for (const one of asked) {
    const group = groups.get(nameOf(one.name)) ?? { name: one.name, asked: [], latest: [] };
    groups.set(nameOf(one.name), group);
    group.asked.push(one);
    if (one.wanted !== undefined && comesWithMarker(one.name, one.wanted)) group.latest.push(one.wanted);
  }
  return [...groups.values()];
}

/** A single request that includes all of them: the highest number of readings, from the earliest instant. */
function unionOf(wanted: readonly ReadingsWanted[]): Omit<ReadingsWanted, 'to'> {
  const starts = wanted.flatMap(({ from }) => from ?? []);
  const last = Math.max(...wanted.map((one) => one.last));
  return starts.length < wanted.length ? { last } : { last, from: starts.reduce((a, b) => (a < b ? a : b)) };
}

const sliceOf = (readings: readonly Reading[], { last, from = '' }: ReadingsWanted) =>
  readings.filter(({ at }) => at >= from).slice(0, last);

/**
 * Creates the marker loader of one request. Everything requested about a marker in one tick is read together: its
 * latest readings and itself by one Query; markers without readings are read in one batch. A failure for one marker
 * affects only that marker.
 */
export function createMarkerLoader({ db, call, slots, limits, now }: MarkerLoaderOptions): MarkerLoader {
  const { keys } = db;
  /** Markers already read, null for those that do not exist. */
  const known = new Map<string, Marker | null>();
  /** Query calls for readings: one together for those that come with a marker, one each for others. */
  const queries = new Map<string, number>();

  async function readAlone(groups: readonly Group[]): Promise<void> {
    const names = groups.map(({ name }) => name).filter((name) => !known.has(nameOf(name)));
    const markers = await getMarkers(db, names, call);
    names.forEach((name, index) => known.set(nameOf(name), markers[index] ?? null));
  }

  /** LIMIT_EXCEEDED if these requests and all earlier ones together may take too many Query calls. */
  function excessOf(asked: readonly Asked[]): CellportError | undefined {
    for (const one of asked) {
      const { name, wanted } = one;
      if (wanted === undefined) continue;
      const key = comesWithMarker(name, wanted) ? nameOf(name) : keyOf(one);
      queries.set(key, mostQueries(name, wanted, now().getTime()));
    }
    const most = limits.readingQueries;
    const all = [...queries.values()].reduce((sum, count) => sum + count, 0);
    if (all <= most) return undefined;
    return limitExceeded(
      'number of Query calls for readings',
      all,
      most,
      'request readings of fewer markers at a time',
    );
  }

  /** Answers all requests for one marker. It has been read by then, unless it comes with its latest readings. */
  async function answer({ name, asked, latest }: Group): Promise<MarkerWithReadings[]> {
    const consistent = asked.some(({ current }) => current);
    const options = { now: now().getTime(), mostPassed: limits.itemsPerField, call, consistent };
    let readings: readonly Reading[] = [];
    if (latest.length > 0) {
      const read = await slots(() => readMarkerWithReadings(db, name, unionOf(latest), options));
      known.set(nameOf(name), read.marker);
      readings = read.readings;
    }
    const marker = known.get(nameOf(name)) ?? null;
    return Promise.all(
      asked.map(async ({ wanted }) => {
        if (marker === null || wanted === undefined) return { marker, readings: [] };
        if (comesWithMarker(name, wanted)) return { marker, readings: sliceOf(readings, wanted) };
        return { marker, readings: await slots(() => readReadingsOf(db, name, marker, wanted, options)) };
      }),
    );
  }

  async function readAll(asked: readonly Asked[]): Promise<(MarkerWithReadings | Error)[]> {
    const groups = groupsOf(asked);
    const excess = excessOf(asked);
    const alone = readAlone(groups.filter(({ latest }) => latest.length === 0));
    // A rejected group does not await it.
    alone.catch(() => undefined);
    const answers = new Map<Asked, MarkerWithReadings | Error>();
    await Promise.all(
      groups.map(async (group) => {
        try {
          if (excess && group.asked.some(({ wanted }) => wanted !== undefined)) throw excess;
          if (group.latest.length === 0) await alone;
          const given = await answer(group);
          given.forEach((one, index) => group.asked[index] && answers.set(group.asked[index], one));
        } catch (error) {
          const failure = error instanceof Error ? error : new Error('a marker could not be read', { cause: error });
          for (const one of group.asked) answers.set(one, failure);
        }
      }),
    );
    return asked.map((one) => answers.get(one) ?? new Error('a marker was requested and got no answer'));
  }

  const loader = new DataLoader<Asked, MarkerWithReadings, string>(readAll, {
    cacheKeyFn: keyOf,
    batchScheduleFn: afterTurns,
  });

  const canBe = ({ collection, key }: MarkerName) =>
    ifPossible(() => keys.marker(keys.scope(collection), key)) !== undefined;

  return {
    marker: async (name) => (canBe(name) ? (await loader.load({ name, wanted: undefined })).marker : null),
    readings: async (name, wanted, current) =>
      canBe(name) ? (await loader.load({ name, wanted, current })).readings : [],
  };
}
