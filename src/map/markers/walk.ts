import { LONGEST_Z, fromZ, toZ } from '../../geo/geohash.js';
import { AFTER_SEPARATOR } from '../../keys/escape.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { IndexedMarkers } from '../../loaders/loaders.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { rangeKeys } from '../../plan/explain.js';
import type { PlannedRange } from '../../plan/markers.js';
import type { MapContext } from '../context.js';
import type { CursorPosition } from '../cursor.js';
import type { MarkerFilter } from '../filter.js';
import type { RangeSource } from './sources.js';

/** A marker and where it stands in the order of its collection. */
export interface Placed {
  readonly place: CursorPosition;
  readonly marker: MapMarker;
}

export interface WalkQuestion {
  readonly collection: Collection;
  readonly source: RangeSource;
  /** Only markers after this place. */
  readonly after?: CursorPosition | undefined;
  /** What of the ranges is asked for: they reach beyond it. */
  readonly accept: (placed: Placed) => boolean;
  readonly filter?: MarkerFilter | undefined;
  /** How many markers are wanted, Infinity for all. More may come. */
  readonly wanted: number;
}

export interface Walked {
  /** In order, each marker once: of several copies the newest. */
  readonly found: readonly Placed[];
  /** Up to where everything is told, where the walk ended at its ceiling of reads; undefined where it did not. */
  readonly cutAt: CursorPosition | undefined;
  /** Whether all there is has been told. */
  readonly ended: boolean;
}

/** Ranges read side by side: few where a small page will probably be full after the first ones. */
const SMALL_WAVE = 4;
const WAVE = 16;
const SMALL_PAGE = 100;
/** Markers of a range that may lie outside of what is asked for, before another read is needed. */
const SPARE = 50;
const KEYS_IN_A_BATCH = 100;
const KEPT_FOR_LOOKUPS = 1 / 16;

/** The part of a range that has been read. */
interface Stretch {
  readonly placed: readonly Placed[];
  /** Where it ends, if not at the range's end. */
  readonly upTo: CursorPosition | undefined;
  readonly calls: number;
  readonly items: number;
}

/** The shards of one range, merged: all of what lies before the place at which the first of them was cut. */
function merge(prefix: string, from: CursorPosition, shards: readonly IndexedMarkers[]): Stretch {
  const cuts = shards
    .filter(({ complete }) => !complete)
    .map(({ upTo }) => (upTo === undefined ? from : prefix + upTo));
  const upTo = cuts.length === 0 ? undefined : cuts.reduce((a, b) => (compareBytes(b, a) < 0 ? b : a));
  let placed = shards.length === 1 ? (shards[0]?.markers ?? []) : shards.flatMap(({ markers }) => markers);
  if (shards.length > 1) {
    placed = placed
      .filter(({ place }) => upTo === undefined || compareBytes(place, upTo) <= 0)
      .sort((a, b) => compareBytes(a.place, b.place));
  }
  return {
    placed,
    upTo,
    calls: shards.reduce((sum, { calls }) => sum + calls, 0),
    items: shards.reduce((sum, { markers }) => sum + markers.length, 0),
  };
}

/**
 * Reads markers in order until enough are found, the ranges end, or the ceiling of Query calls or of items is reached.
 * A marker that moves meanwhile may be seen at both places; the higher map version is the newer one and counts.
 */
export async function walk(context: MapContext, question: WalkQuestion): Promise<Walked> {
  const { loaders, keys, limits } = context;
  const { collection, source, accept, filter, wanted } = question;
  const shards = collection.writeShards;
  // Some calls are kept for looking up what only base items tell, so that each page goes on by some markers.
  const kept = filter ? Math.ceil(limits.rangesPerPage * KEPT_FOR_LOOKUPS) : 0;
  let lookups = kept * KEYS_IN_A_BATCH;
  let calls = limits.rangesPerPage - source.calls - kept;
  let items = limits.itemsPerField;
  /** Everything up to here is told. */
  let told: CursorPosition = question.after ?? fromZ(0, LONGEST_Z);
  const versions = new Map<string, number>();
  let found: Placed[] = [];
  const cut = (): Walked => ({ found, cutAt: told, ended: false });

  /** Reads a range from `told` on, as far as its share of the calls goes. */
  async function read(range: PlannedRange, maxCalls: number): Promise<Stretch> {
    const limit = Math.min(items, 2 * (wanted - found.length) + SPARE);
    const start = fromZ(range.from, LONGEST_Z);
    const from = compareBytes(told, start) > 0 ? told : start;
    const answers = await Promise.all(
      rangeKeys(range, collection, keys).map((keyRange) =>
        loaders.markers(collection, range.prefix, {
          range: { ...keyRange, from: from.slice(range.prefix.length) },
          limit,
          maxCalls,
        }),
      ),
    );
    return merge(range.prefix, from, answers);
  }

  /** Takes in what was read; false where the ceiling ends it. */
  async function take(placed: readonly Placed[]): Promise<boolean> {
    let candidates: Placed[] = [];
    let fits = true;
    let beyond = false;
    for (const one of placed) {
      const { marker } = one;
      // They are in order: behind the first that has not been told, none has.
      beyond ||= compareBytes(one.place, told) > 0;
      if (!beyond) continue;
      const known = versions.get(marker.key);
      if (known !== undefined && known >= marker.mapVersion) continue;
      const verdict = !accept(one) ? 'fail' : filter ? filter.verdict(marker, collection) : 'pass';
      if (verdict === 'unknown' && lookups === 0 && calls > 0) {
        calls--;
        lookups = KEYS_IN_A_BATCH;
      }
      if (verdict === 'unknown' && lookups === 0) {
        fits = false;
        break;
      }
      if (verdict === 'unknown') lookups--;
      told = one.place;
      versions.set(marker.key, marker.mapVersion);
      // An older copy was told of a place where the marker is no more.
      if (known !== undefined) {
        const others = (other: Placed) => other.marker.key !== marker.key;
        found = found.filter(others);
        candidates = candidates.filter(others);
      }
      if (verdict !== 'fail') candidates.push(one);
    }
    const unknown = filter ? candidates.filter(({ marker }) => filter.verdict(marker, collection) === 'unknown') : [];
    const bases = await Promise.all(unknown.map(({ marker }) => loaders.marker({ collection, key: marker.key })));
    const failed = new Set(
      unknown.filter((_, index) => {
        const base = bases[index];
        return !base || !filter?.passes(base);
      }),
    );
    for (const one of candidates) if (!failed.has(one)) found.push(one);
    return fits;
  }

  for (let next: number | undefined = toZ(told.slice(0, LONGEST_Z)); next !== undefined;) {
    const ceiling = Math.floor(calls / shards);
    if (ceiling < 1) return cut();
    const plan = await source.plan(next, ceiling, wanted - found.length);
    let rest = plan.ranges;
    while (rest.length > 0) {
      const most = Math.floor(calls / shards);
      if (most < 1 || items < 1) return cut();
      const wave = rest.slice(0, waveOf(rest, wanted - found.length, most));
      const share = Math.max(1, Math.floor(calls / (wave.length * shards)));
      const stretches = await Promise.all(wave.map((range) => read(range, share)));
      for (const stretch of stretches) {
        calls -= stretch.calls;
        items -= stretch.items;
      }
      for (const [index, stretch] of stretches.entries()) {
        const range = wave[index];
        if (!range || !(await take(stretch.placed))) return cut();
        if (stretch.upTo !== undefined) {
          // The others of the wave were read for nothing, unless this one has filled the page.
          told = stretch.upTo;
          rest = rest.slice(index);
          break;
        }
        told = endOf(range);
        if (index === wave.length - 1) rest = rest.slice(wave.length);
      }
      if (found.length >= wanted) return { found, cutAt: undefined, ended: false };
    }
    next = plan.next;
    if (next !== undefined) told = fromZ(next, LONGEST_Z);
  }
  return { found, cutAt: undefined, ended: true };
}

/** The place after all markers of a range. */
const endOf = ({ to }: PlannedRange): CursorPosition =>
  to < 32 ** LONGEST_Z ? fromZ(to, LONGEST_Z) : 'z'.repeat(LONGEST_Z) + AFTER_SEPARATOR;

/** How many of the next ranges to read at once. */
function waveOf(ranges: readonly PlannedRange[], wanted: number, most: number): number {
  let expected = 0;
  let count = 0;
  const wave = wanted < SMALL_PAGE && ranges[0]?.expected === undefined ? SMALL_WAVE : WAVE;
  while (count < Math.min(ranges.length, most, wave) && expected < wanted) {
    expected += ranges[count]?.expected ?? 0;
    count++;
  }
  return Math.max(1, count);
}
