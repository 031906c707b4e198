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
import { RecentChanges } from './recent-changes.js';

/** A marker as the geo index holds it. */
export interface IndexedMarker {
  /** Its index sort key. */
  readonly sortKey: string;
  /** The sort key after the geohash characters in the partition key: the marker's position in the order of its collection. */
  readonly cursorPosition: string;
  /** The same object for all who read the same item. */
  readonly marker: MapMarker;
}

/** When a read began, so that its result does not replace later changes. */
export interface MarkersToken {
  readonly at: number;
  readonly generation: number;
}

/** A range of the geo index, half-open. */
export interface Stretch extends KeyRange {
  /** All its sort keys are before this; no key is between `to` and it. */
  readonly until: string;
}

/** The cached part of a range of the geo index. */
export interface KnownMarkers {
  /** The markers from the start of the range to the missing part, or all of them if nothing is missing. */
  readonly head: readonly IndexedMarker[];
  /** The range to be read; undefined if the whole range is known. */
  readonly missing: Stretch | undefined;
  /** The markers after the missing part. */
  readonly tail: readonly IndexedMarker[];
}

/** The collection and prefix of a partition. */
export interface MarkersOf {
  readonly collection: Pick<Collection, 'key'>;
  /** The geohash characters that all of its markers share. */
  readonly prefix: string;
}

export interface MarkerCacheOptions {
  readonly keys: Keyspace;
  /** 0 for no cache at all. */
  readonly maxBytes: number;
  /** Whether `changed` is called with every write soon after it. While false, nothing is returned or kept. */
  readonly trusted: () => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/**
 * Nothing is kept for longer, so that anything the rules below miss (an index that lags for longer than expected)
 * corrects itself.
 */
const LONGEST_MS = 60_000;
/** How long an index may lag behind its table, and a read of it may take. */
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

/** The index of the first member of a sorted list whose key is not before this one. */
function indexOf<T>(list: readonly T[], key: string, keyOf: (member: T) => string): number {
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
  return markers.slice(indexOf(markers, from, sortKeyOf), indexOf(markers, until, sortKeyOf));
}

/**
 * Markers of the geo index, shared by all requests of a process and kept current by the stream, with a bound in bytes. What
 * is read is kept as it was read, in ranges of any length, so that nothing is read for the cache's sake; of a range that is
 * partly known, only the gap is read.
 *
 * A read that began before a change was learned, or that an index has answered which lags behind its table, finds markers
 * without that change, and no later record would correct them. So the changes of the last seconds are remembered, and
 * what is older than they are is used once but not kept.
 */
export class MarkerCache {
  readonly #options: MarkerCacheOptions;
  readonly #partitions = new Map<string, Partition>();
  readonly #segments: LRUCache<Segment, true> | undefined;
  readonly #recent: RecentChanges;
  #generation = 0;
  /** Earlier changes may have been missed that an index still has to catch up with. */
  #heardSince: number;

  constructor(options: MarkerCacheOptions) {
    const { maxBytes, now } = options;
    this.#options = options;
    this.#recent = new RecentChanges({ now, lagMs: LAG_MS });
    this.#heardSince = now();
    if (maxBytes === 0) return;
    this.#segments = new LRUCache<Segment, true>({
      maxSize: maxBytes,
      sizeCalculation: (_, segment) => bytesOf(segment),
      dispose: (_, segment) => this.#drop(segment),
    });
  }

  get(range: KeyRange): KnownMarkers {
    const until = afterRange(range.to);
    if (this.#partitions.size === 0 || !this.#options.trusted()) {
      return { head: [], missing: { ...range, until }, tail: [] };
    }
    const found = this.#within(nameOf(range), range.from, until);
    for (const segment of found) this.#segments?.get(segment);
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
    for (const segment of found.slice(next).reverse()) {
      if (compareBytes(segment.until, last) < 0) break;
      tail.unshift(slice(segment, segment.from, last));
      last = segment.from;
    }
    const missing = { ...range, from: first, to: last === until ? range.to : last, until: last };
    return { head, missing, tail: tail.flat() };
  }

  /** To be called before a read whose markers will be put. */
  begin(): MarkersToken {
    return { at: this.#options.now(), generation: this.#generation };
  }

  /** Adds all markers of a range, as found by a read. */
  put(of: MarkersOf, { from, until, ...range }: Stretch, markers: readonly IndexedMarker[], token: MarkersToken): void {
    if (!this.#segments || !this.#options.trusted() || token.generation !== this.#generation) return;
    if (compareBytes(from, until) >= 0 || token.at - this.#heardSince < LAG_MS) return;
    const name = nameOf(range);
    const found = { from, until, markers: [...markers], readAt: token.at };
    if (!this.#recent.agree(name, found, token.at)) return;
    const partition = this.#partitions.get(name) ?? { name, of, segments: [] };
    for (const old of this.#within(name, from, until)) {
      this.#segments.delete(old);
      for (const [begin, end] of [
        [old.from, from],
        [until, old.until],
      ] as const) {
        if (compareBytes(begin, end) >= 0) continue;
        this.#add({ partition, from: begin, until: end, markers: slice(old, begin, end), readAt: old.readAt });
      }
    }
    this.#add({ partition, ...found });
  }

  /** Applies the change of a write. To be called for every record of the stream, those of one item in their order. */
  changed(changes: readonly EntryChange[]): void {
    if (!this.#segments) return;
    for (const change of changes) {
      const name = nameOf(change);
      const { sortKey, mapVersion } = change;
      this.#recent.add(name, change);
      const [segment] = this.#within(name, sortKey, `${sortKey}\0`);
      if (!segment) continue;
      const index = indexOf(segment.markers, sortKey, sortKeyOf);
      const held = segment.markers[index]?.sortKey === sortKey ? segment.markers[index] : undefined;
      // A read may have been ahead of the stream.
      if (held && held.marker.mapVersion > mapVersion) continue;
      const item: Item | undefined = change.entry?.();
      const { collection, prefix } = segment.partition.of;
      const marker = item && mapMarkerFromIndex(this.#options.keys, item, collection);
      const now = marker ? [{ sortKey, cursorPosition: prefix + sortKey, marker }] : [];
      segment.markers.splice(index, held ? 1 : 0, ...now);
    }
  }

  /** Clears the cache, reads under way included: for when changes were missed. */
  clear(): void {
    this.#generation++;
    this.#heardSince = this.#options.now();
    this.#segments?.clear();
    this.#partitions.clear();
    this.#recent.clear();
  }

  #add(segment: Segment): void {
    const { name, segments } = segment.partition;
    this.#partitions.set(name, segment.partition);
    segments.splice(indexOf(segments, segment.until, untilOf), 0, segment);
    this.#segments?.set(segment, true);
    // Larger than the whole cache.
    if (!this.#segments?.has(segment)) this.#drop(segment);
  }

  #drop(segment: Segment): void {
    const { name, segments } = segment.partition;
    const index = segments.indexOf(segment);
    if (index >= 0) segments.splice(index, 1);
    if (segments.length === 0) this.#partitions.delete(name);
  }

  /** The segments that overlap a range and are not too old. */
  #within(name: string, from: string, until: string): Segment[] {
    const all = this.#partitions.get(name)?.segments ?? [];
    const at = this.#options.now();
    const found: Segment[] = [];
    const old: Segment[] = [];
    for (let index = indexOf(all, from, untilOf); index < all.length; index++) {
      const segment = all[index];
      if (!segment || compareBytes(segment.from, until) >= 0) break;
      if (compareBytes(segment.until, from) <= 0) continue;
      (at - segment.readAt < LONGEST_MS ? found : old).push(segment);
    }
    for (const segment of old) this.#segments?.delete(segment);
    return found;
  }
}
