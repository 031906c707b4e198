import DataLoader from 'dataloader';
import type { LimitFunction } from 'p-limit';

import { limitExceeded, type CellportError } from '../errors.js';
import { isInRows, seen } from '../model/grant.js';
import type { Limits } from '../model/limits.js';
import type { Marker } from '../model/marker.js';
import { areApart, DAY_MS, partitionsOf, type Reading } from '../model/reading.js';
import type { Call, Database } from '../store/database.js';
import type { MarkerReference } from '../store/marker/markers.js';
import {
  readMarkerWithReadings,
  readReadingsOf,
  type MarkerWithReadings,
  type ReadingsWanted,
} from '../store/reading/readings.js';
import { markersByKey } from '../store/source/source-markers.js';
import { groupBy } from './group.js';
import { ifPossible } from './impossible-keys.js';
import { settled } from './settled.js';

/** A request for a marker, or for its readings. */
interface Asked {
  readonly name: MarkerReference;
  readonly wanted: ReadingsWanted | undefined;
  readonly current?: boolean;
}

/** Everything requested about one marker in one tick. */
interface Group {
  readonly name: MarkerReference;
  readonly asked: readonly Asked[];
  /** The requested readings that come with the marker: they have no upper end, and are in its partition. */
  readonly latest: readonly ReadingsWanted[];
}

const NOTHING: MarkerWithReadings = { marker: null, readings: [] };

const referenceKey = ({ collection, key }: MarkerReference) => `${collection.key}\n${key}`;

const comesWithMarker = ({ collection }: MarkerReference, { to }: ReadingsWanted) =>
  to === undefined && !areApart(collection);

/** The number of Query calls that the readings of a marker may take. */
function mostQueries({ collection }: MarkerReference, { from }: ReadingsWanted, now: number): number {
  const days = (now - Date.parse(from ?? '')) / DAY_MS;
  const kept = collection.readingsTtlDays ?? 0;
  return partitionsOf(collection, days < kept ? Math.max(0, days) : kept);
}

const canBe = ({ keys }: Database, { collection, key }: MarkerReference) =>
  ifPossible(() => keys.marker(keys.scope(collection), key)) !== undefined;

const keyOf = ({ name, wanted }: Asked) =>
  wanted === undefined ? referenceKey(name) : JSON.stringify([referenceKey(name), wanted.last, wanted.from, wanted.to]);

function groupsOf(asked: readonly Asked[]): Group[] {
  return Array.from(groupBy(asked, ({ name }) => referenceKey(name)).values(), (members) => ({
    name: members[0].name,
    asked: members,
    latest: members.flatMap(({ name, wanted }) => (wanted && comesWithMarker(name, wanted) ? [wanted] : [])),
  }));
}

/** A single request that includes all of them: the highest number of readings, from the earliest instant. */
function unionOf(wanted: readonly ReadingsWanted[]): ReadingsWanted {
  const starts = wanted.flatMap(({ from }) => from ?? []);
  const last = Math.max(...wanted.map((one) => one.last));
  return starts.length < wanted.length ? { last } : { last, from: starts.reduce((a, b) => (a < b ? a : b)) };
}

const sliceOf = (readings: readonly Reading[], { last, from = '' }: ReadingsWanted) =>
  readings.filter(({ at }) => at >= from).slice(0, last);

/** Markers already read, null for those that do not exist. */
type KnownMarkers = Map<string, Marker | null>;

/**
 * Loads markers and their readings for one request. Everything requested about a marker in one tick is read together:
 * its latest readings and itself by one Query; markers without readings are read in one batch. A failure for one marker
 * affects only that marker.
 */
export class MarkerLoader {
  readonly #call: Call;
  readonly #slots: LimitFunction;
  readonly #limits: Limits;
  readonly #now: () => Date;
  #known: KnownMarkers = new Map();
  /** Query calls for readings: one together for those that come with a marker, one each for others. */
  readonly #queries = new Map<string, number>();
  readonly #loader = new DataLoader<Asked, MarkerWithReadings, string>((asked) => this.#readAll(asked), {
    cacheKeyFn: keyOf,
    batchScheduleFn: (step) => this.#call.db.scheduler.afterTurns(step),
  });

  constructor(call: Call, slots: LimitFunction, limits: Limits, now: () => Date) {
    this.#call = call;
    this.#slots = slots;
    this.#limits = limits;
    this.#now = now;
  }

  /** A marker as the principal sees it; null if it does not exist. */
  async load(name: MarkerReference): Promise<Marker | null> {
    if (!canBe(this.#call.db, name)) return null;
    return seen(name.collection, (await this.#loader.load({ name, wanted: undefined })).marker);
  }

  /** `current`: the marker returned with them must be as of its last write. */
  async readings(name: MarkerReference, wanted: ReadingsWanted, current = false): Promise<readonly Reading[]> {
    if (!canBe(this.#call.db, name)) return [];
    const { marker, readings } = await this.#loader.load({ name, wanted, current });
    return marker !== null && isInRows(name.collection, marker) ? readings : [];
  }

  /** Drops the markers that were read. */
  forget(): void {
    this.#loader.clearAll();
    this.#known = new Map();
  }

  #readAll(asked: readonly Asked[]): Promise<(MarkerWithReadings | Error)[]> {
    const excess = this.#excessOf(asked);
    const groups = groupsOf(asked);
    const alone = this.#readAlone(groups.filter(({ latest }) => latest.length === 0));
    const answers = new Map<Asked, Promise<MarkerWithReadings>>();
    for (const group of groups) {
      const read = this.#readMarker(group, alone, excess);
      for (const one of group.asked) answers.set(one, this.#answer(one, group, read));
    }
    return settled(asked.map((one) => answers.get(one) ?? NOTHING));
  }

  /** LIMIT_EXCEEDED if these requests and all earlier ones together may take too many Query calls. */
  #excessOf(asked: readonly Asked[]): CellportError | undefined {
    for (const one of asked) {
      const { name, wanted } = one;
      if (wanted === undefined) continue;
      const key = comesWithMarker(name, wanted) ? referenceKey(name) : keyOf(one);
      this.#queries.set(key, mostQueries(name, wanted, this.#now().getTime()));
    }
    const most = this.#limits.readingQueries;
    const all = [...this.#queries.values()].reduce((sum, count) => sum + count, 0);
    if (all <= most) return undefined;
    return limitExceeded(
      'number of Query calls for readings',
      all,
      most,
      'request readings of fewer markers at a time',
    );
  }

  /** Reads the markers of groups that are not known, without readings; returns all that are known. */
  async #readAlone(groups: readonly Group[]): Promise<KnownMarkers> {
    const known = this.#known;
    const names = groups.map(({ name }) => name).filter((name) => !known.has(referenceKey(name)));
    const markers = await markersByKey(this.#call, names);
    names.forEach((name, index) => known.set(referenceKey(name), markers[index] ?? null));
    return known;
  }

  /** The marker of a group with its latest readings, or as it was read alone, once it is. */
  async #readMarker(
    group: Group,
    alone: Promise<KnownMarkers>,
    excess: CellportError | undefined,
  ): Promise<MarkerWithReadings> {
    const { name, asked, latest } = group;
    const read = latest.length === 0 ? await alone : undefined;
    if (excess && asked.some(({ wanted }) => wanted !== undefined)) throw excess;
    if (read !== undefined) return { marker: read.get(referenceKey(name)) ?? null, readings: [] };
    const options = this.#optionsOf(group);
    const found = await this.#slots(() => readMarkerWithReadings(this.#call, name, unionOf(latest), options));
    this.#known.set(referenceKey(name), found.marker);
    return found;
  }

  /** The answer to one of a group's requests, from its marker. */
  async #answer({ name, wanted }: Asked, group: Group, read: Promise<MarkerWithReadings>): Promise<MarkerWithReadings> {
    const { marker, readings } = await read;
    if (marker === null || wanted === undefined) return { marker, readings: [] };
    if (comesWithMarker(name, wanted)) return { marker, readings: sliceOf(readings, wanted) };
    const options = this.#optionsOf(group);
    return {
      marker,
      readings: await this.#slots(() => readReadingsOf(this.#call, name, marker.incarnation, wanted, options)),
    };
  }

  #optionsOf({ asked }: Group) {
    return {
      now: this.#now().getTime(),
      mostPassed: this.#limits.itemsPerField,
      consistent: asked.some(({ current }) => current),
    };
  }
}
