import { LRUCache } from 'lru-cache';

import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { KeyRange } from '../model/key-range.js';
import type { MapMarker } from '../model/marker.js';
import type { Item } from '../store/database.js';
import type { EntryChange } from '../store/marker/entry-changes.js';
import { mapMarkerFromIndex } from '../store/marker/marker-item.js';
import { compareBytes } from '../keys/byte-order.js';
import { afterRange } from './range-union.js';
import { createRecentChanges } from './recent-changes.js';

/** A marker as it stands in the geo index. */
export interface IndexedMarker {
  /** Its index sort key. */
  readonly sortKey: string;
  /** The sort key after the geohash characters in the partition key: the marker's position in the order of its collection. */
  readonly cursorPosition: string;
  /** The same object for all who read the same item. */
  readonly marker: MapMarker;
}

/** When a read began, so that what it found is not kept where more has been learned since. */
export interface MarkersToken {
  readonly at: number;
  readonly generation: number;
}

/** A range of the geo index, half-open. */
export interface Stretch extends KeyRange {
  /** All its sort keys stand before this; no key stands between `to` and it. */
  readonly until: string;
}

/** What is known of a range of the geo index. */
export interface KnownMarkers {
  /** The markers from where the range begins up to what is missing, or all of them where nothing is. */
  readonly head: readonly IndexedMarker[];
  /** What has to be read; undefined where the whole range is known. */
  readonly missing: Stretch | undefined;
  /** The markers from where what is missing ends. */
  readonly tail: readonly IndexedMarker[];
}

/** Whose markers a partition holds. */
export interface MarkersOf {
  readonly collection: Pick<Collection, 'key'>;
  /** The geohash characters that all of them begin with. */
  readonly prefix: string;
}

/** Markers of the geo index, shared by all requests of a process and kept right by the stream. */
export interface MarkerCache {
  get(range: KeyRange): KnownMarkers;
  /** To be called before a read whose markers will be put. */
  begin(): MarkersToken;
  /** Takes in all markers of a stretch, as a read found them. */
  put(of: MarkersOf, stretch: Stretch, markers: readonly IndexedMarker[], token: MarkersToken): void;
  /** Brings in what a write has changed. To be called for every record of the stream, those of one item in their order. */
  changed(changes: readonly EntryChange[]): void;
  /** Forgets everything, reads under way included: for when changes were missed. */
  clear(): void;
}

export interface MarkerCacheOptions {
  readonly keys: Keyspace;
  /** 0 for no cache at all. */
  readonly maxBytes: number;
  /** Whether `changed` hears of every write soon after it. While false, nothing is given or kept. */
  readonly trusted: () => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/**
 * Nothing is kept for longer, so that whatever the rules below should miss (an index that lags for longer than anybody
 * expects) mends itself.
 */
const LONGEST_MS = 60_000;
/** How long an index may lag behind its table, and reads of it may be under way. */
const LAG_MS = 10_000;
/** A marker takes about 600 bytes of objects beside its texts, which are held twice: as they are and as a feature. */
const MARKER_BYTES = 600;
const SEGMENT_BYTES = 200;

/** All markers with sort keys from one bound up to below another one. */
interface Segment {
  readonly partition: Partition;
  readonly from: string;
  readonly until: string;
  readonly markers: IndexedMarker[];
  readonly readAt: number;
}

/** The segments of one partition of an index: disjoint, in order. */
interface Partition {
  readonly name: string;
  readonly of: MarkersOf;
  readonly segments: Segment[];
}

const nameOf = ({ index, pk }: Pick<KeyRange, 'index' | 'pk'>) => `${index}\n${pk}`;

function textBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 16;
  return Object.entries(value).reduce((sum, [name, entry]) => sum + 16 + name.length + textBytes(entry), 16);
}

const bytesOf = ({ markers }: Segment) =>
  markers.reduce((sum, { marker }) => sum + MARKER_BYTES + 2 * textBytes(marker), SEGMENT_BYTES);

/** The first place in a sorted list whose key is not before this one. */
function placeIn<T>(list: readonly T[], key: string, keyOf: (member: T) => string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const member = list[middle];
    if (member !== undefined && compareBytes(keyOf(member), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const sortKeyOf = ({ sortKey }: IndexedMarker) => sortKey;
const untilOf = ({ until }: Segment) => until;

/** The members of a segment from one sort key up to below another. */
function slice({ markers }: Segment, from: string, until: string): IndexedMarker[] {
  return markers.slice(placeIn(markers, from, sortKeyOf), placeIn(markers, until, sortKeyOf));
}

/**
 * A cache of stretches of the geo index with a bound in bytes. What is read is kept as it was read, in ranges of any
 * length, so that nothing is read for the cache's sake; of a range that is known in part only what lies between is read.
 *
 * A read that began before a change was learned, or that an index has answered which lags behind its table, finds markers
 * without that change, and no later record would mend them. So the changes of the last seconds are remembered, and
 * what is older than they are is used once but not kept.
 */
export function createMarkerCache({ keys, maxBytes, trusted, now }: MarkerCacheOptions): MarkerCache {
  const partitions = new Map<string, Partition>();
  const segments =
    maxBytes > 0
      ? new LRUCache<Segment, true>({
          maxSize: maxBytes,
          sizeCalculation: (_, segment) => bytesOf(segment),
          dispose: (_, segment) => drop(segment),
        })
      : null;
  const recent = createRecentChanges({ now, lagMs: LAG_MS });
  let generation = 0;
  /** Of what was written before, changes may have been missed that an index still has to catch up with. */
  let heardSince = now();

  function drop(segment: Segment): void {
    const { name, segments: list } = segment.partition;
    const place = list.indexOf(segment);
    if (place >= 0) list.splice(place, 1);
    if (list.length === 0) partitions.delete(name);
  }

  function add(segment: Segment): void {
    const { segments: list } = segment.partition;
    partitions.set(segment.partition.name, segment.partition);
    list.splice(placeIn(list, segment.until, untilOf), 0, segment);
    segments?.set(segment, true);
    // Larger than the whole cache.
    if (!segments?.has(segment)) drop(segment);
  }

  /** Those that reach into the stretch and are not too old. */
  function within(name: string, from: string, until: string): Segment[] {
    const list = partitions.get(name)?.segments ?? [];
    const found: Segment[] = [];
    for (let place = placeIn(list, from, untilOf); place < list.length; place++) {
      const segment = list[place];
      if (!segment || compareBytes(segment.from, until) >= 0) break;
      if (compareBytes(segment.until, from) > 0) found.push(segment);
    }
    const at = now();
    return found.filter((segment) => {
      if (at - segment.readAt < LONGEST_MS) return true;
      segments?.delete(segment);
      return false;
    });
  }

  return {
    get(range) {
      const until = afterRange(range.to);
      if (partitions.size === 0 || !trusted()) return { head: [], missing: { ...range, until }, tail: [] };
      const found = within(nameOf(range), range.from, until);
      for (const segment of found) segments?.get(segment);
      let first = range.from;
      const head: IndexedMarker[] = [];
      let next = 0;
      for (; next < found.length; next++) {
        const segment = found[next];
        if (!segment || compareBytes(segment.from, first) > 0) break;
        head.push(...slice(segment, first, until));
        first = segment.until;
      }
      if (compareBytes(first, until) >= 0) return { head, missing: undefined, tail: [] };
      let last = until;
      const tail: IndexedMarker[][] = [];
      for (let place = found.length - 1; place >= next; place--) {
        const segment = found[place];
        if (!segment || compareBytes(segment.until, last) < 0) break;
        tail.unshift(slice(segment, segment.from, last));
        last = segment.from;
      }
      const missing = { ...range, from: first, to: last === until ? range.to : last, until: last };
      return { head, missing, tail: tail.flat() };
    },

    begin: () => ({ at: now(), generation }),

    put(of, { from, until, ...range }, markers, token) {
      if (!segments || !trusted() || token.generation !== generation) return;
      if (compareBytes(from, until) >= 0 || token.at - heardSince < LAG_MS) return;
      const name = nameOf(range);
      const found = { from, until, markers: [...markers], readAt: token.at };
      if (!recent.agree(name, found, token.at)) return;
      const partition = partitions.get(name) ?? { name, of, segments: [] };
      for (const old of within(name, from, until)) {
        segments.delete(old);
        const { readAt } = old;
        if (compareBytes(old.from, from) < 0) {
          add({ partition, from: old.from, until: from, markers: slice(old, old.from, from), readAt });
        }
        if (compareBytes(until, old.until) < 0) {
          add({ partition, from: until, until: old.until, markers: slice(old, until, old.until), readAt });
        }
      }
      add({ partition, ...found });
    },

    changed(changes) {
      if (!segments) return;
      for (const change of changes) {
        const name = nameOf(change);
        const { sortKey, mapVersion } = change;
        recent.add(name, change);
        const [segment] = within(name, sortKey, `${sortKey}\0`);
        if (!segment) continue;
        const place = placeIn(segment.markers, sortKey, sortKeyOf);
        const held = segment.markers[place]?.sortKey === sortKey ? segment.markers[place] : undefined;
        // A read may have been ahead of the stream.
        if (held && held.marker.mapVersion > mapVersion) continue;
        const item: Item | undefined = change.entry?.();
        const { collection, prefix } = segment.partition.of;
        const marker = item && mapMarkerFromIndex(keys, item, collection);
        const now = marker ? [{ sortKey, cursorPosition: prefix + sortKey, marker }] : [];
        segment.markers.splice(place, held ? 1 : 0, ...now);
      }
    },

    clear() {
      generation++;
      heardSince = now();
      segments?.clear();
      partitions.clear();
      recent.clear();
    },
  };
}
