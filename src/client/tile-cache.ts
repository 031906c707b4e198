import { systemClock } from '../clock.js';
import type { MarkerChange } from './change-feed.js';
import { geohashOf } from './geohash.js';
import type { MapMarker, TileContent } from './options.js';
import { holds, surroundings, tileBounds, type Bounds, type TileKey, type TileRect } from './tiles.js';
import { copyFrom } from './world-copy.js';

export const EMPTY: TileContent = { markers: [], clusters: [], cells: [], zones: [] };

/** A rectangle of tiles loaded as one, and its content. */
export interface TileEntry {
  readonly rect: TileRect;
  readonly keys: readonly TileKey[];
  /** Time of the request in ms. */
  readonly requestedAt: number;
  content: TileContent;
  /**
   * Maximum number of individually drawn markers, so that changes can be applied here; 0 if only the server can apply
   * them.
   */
  readonly maxMarkers: number;
  /** Drawn until replaced, but to be loaded again. */
  stale: boolean;
}

/** Number of cached tiles besides those on the screen, and of markers whose last change is known. */
const MOST_KEPT = 1_000;
/** A response may lack changes emitted up to this long before its request, in ms, because indexes lag. */
const INDEX_LAG = 1_000;
/** The same for counts, which lag behind the stream. */
export const COUNTS_LAG = 3_000;
/** How long changes are kept for pending responses, in ms: longer than any response takes. */
const CHANGES_KEPT = 15_000;

/** Applies a change to an entry. Returns whether the change is visible there. */
function applyTo(entry: TileEntry, { id, kind, marker, previous }: MarkerChange): boolean {
  const { content, maxMarkers } = entry;
  // Clusters also depend on markers slightly beyond the edge.
  const bounds = content.clusters.length > 0 ? surroundings(entry.rect) : tileBounds(entry.rect);
  const isHere = marker !== null && kind !== 'DELETED' && holds(bounds, marker.position);
  const wasHere = (previous !== null && holds(bounds, previous)) || content.markers.some((each) => each.id === id);
  if (!isHere && !wasHere) return false;
  const others = content.markers.filter((each) => each.id !== id);
  if (maxMarkers > 0) entry.content = { ...content, markers: isHere ? [...others, marker] : others };
  if (maxMarkers === 0 || entry.content.markers.length > maxMarkers) entry.stale = true;
  return true;
}

/** Cache of loaded tiles. */
export class TileCache {
  /** In the order of insertion. */
  readonly #byTile = new Map<TileKey, TileEntry>();
  /** Last change of each marker. Clear it with a new connection, whose sequence numbers may be those of another table. */
  readonly seen = new Map<string, MarkerChange>();
  #recent: readonly { readonly at: number; readonly change: MarkerChange }[] = [];

  get(key: TileKey): TileEntry | undefined {
    return this.#byTile.get(key);
  }

  /** The entries of these tiles, without duplicates. */
  getAll(keys: readonly TileKey[]): TileEntry[] {
    return [...new Set(keys.flatMap((key) => this.get(key) ?? []))];
  }

  /** Adds an entry, applies recent changes that it may lack, and evicts older entries with the same tiles. */
  put(entry: TileEntry): void {
    for (const older of this.getAll(entry.keys)) this.#evict(older);
    for (const oldest of this.#all()) {
      if (this.#byTile.size + entry.keys.length <= MOST_KEPT) break;
      this.#evict(oldest);
    }
    for (const key of entry.keys) this.#byTile.set(key, entry);
    const lag = entry.maxMarkers > 0 ? INDEX_LAG : COUNTS_LAG;
    for (const { at, change } of this.#recent) if (at > entry.requestedAt - lag) applyTo(entry, change);
  }

  /**
   * Applies a change to the affected entries and returns them. Entries to which it cannot be applied become stale. Every
   * subscription repeats recent changes: those were applied, and to do so again would show a marker where it was until its
   * last change is repeated; but responses may still lack that one.
   */
  apply(change: MarkerChange): TileEntry[] {
    const now = systemClock.wall();
    const known = this.seen.get(change.id);
    const last = known && known.sequence >= change.sequence ? known : change;
    this.#recent = [...this.#recent.filter(({ at }) => at > now - CHANGES_KEPT), { at: now, change: last }];
    if (last === known) return [];
    if (this.seen.set(change.id, change).size > MOST_KEPT) this.seen.clear();
    return [...this.#all()].filter((entry) => applyTo(entry, change));
  }

  /** Marks entries requested before a time, in ms, as stale. */
  expireBefore(time: number): void {
    for (const entry of this.#all()) if (entry.requestedAt < time) entry.stale = true;
  }

  /** Marks entries not entirely within these bounds as stale. */
  expireOutside(bounds: Bounds): void {
    const isWorld = bounds.east - bounds.west >= 360;
    for (const entry of this.#all()) {
      const { west, south, east, north } = tileBounds(entry.rect);
      const turn = west < bounds.west ? 360 : 0;
      const isWithin =
        south >= bounds.south &&
        north <= bounds.north &&
        (isWorld || (west + turn >= bounds.west && east + turn <= bounds.east));
      if (!isWithin) entry.stale = true;
    }
  }

  #all(): ReadonlySet<TileEntry> {
    return new Set(this.#byTile.values());
  }

  #evict({ keys }: TileEntry): void {
    for (const key of keys) this.#byTile.delete(key);
  }
}

/** The items of all lists, unique by name; of several with one name, the last is used. */
function unique<T>(lists: readonly (readonly T[])[], name: (each: T) => string): T[] {
  return [...new Map(lists.flat().map((each) => [name(each), each])).values()];
}

/**
 * Merges the content of several entries. Clusters of a level are the same in every rectangle, so a cluster on an edge
 * is in both entries and drawn once; a marker of one entry may already be counted in a cluster of another. If entries
 * contradict each other because markers have changed in between, the latest one applies.
 */
function merge(entries: readonly TileEntry[]): TileContent {
  const latest = entries.toSorted((a, b) => b.requestedAt - a.requestedAt);
  const lists = <K extends keyof TileContent>(kind: K) => latest.toReversed().map(({ content }) => content[kind]);
  const drawn = new Set<string>();
  const clusters = latest.flatMap(({ content }) =>
    content.clusters.filter(({ geohashes }) => {
      const isNew = !geohashes.some((geohash) => drawn.has(geohash));
      if (isNew) for (const geohash of geohashes) drawn.add(geohash);
      return isNew;
    }),
  );
  const lengths = new Set(Array.from(drawn, (geohash) => geohash.length));
  const isCounted = ({ position }: MapMarker) => [...lengths].some((length) => drawn.has(geohashOf(position, length)));
  return {
    clusters,
    markers: unique(lists('markers'), ({ id }) => id).filter((marker) => !isCounted(marker)),
    cells: unique(lists('cells'), ({ geohash }) => geohash),
    zones: unique(lists('zones'), ({ id }) => id),
  };
}

/**
 * Returns a function that merges the content of entries and moves it to the copy of the world that begins at `west`, if
 * given; it returns the same lists as long as nothing has changed.
 */
export function createMerge(): (entries: readonly TileEntry[], west?: number) => TileContent {
  let parts: readonly TileContent[] = [];
  let merged: TileContent = EMPTY;
  let from: number | undefined;
  return (entries, west) => {
    if (
      west !== from ||
      entries.length !== parts.length ||
      entries.some(({ content }, index) => content !== parts[index])
    ) {
      parts = entries.map(({ content }) => content);
      from = west;
      merged = west === undefined ? merge(entries) : copyFrom(west, merge(entries));
    }
    return merged;
  };
}
