import type { MarkerChange } from './change-feed.js';
import type { MapMarker, TileContent } from './options.js';
import { geohashOf } from './geohash.js';
import { type Bounds, type TileKey, type TileRect, holds, surroundings, tileBounds } from './tiles.js';

export const EMPTY: TileContent = { markers: [], clusters: [], cells: [], zones: [] };

/** A rectangle of tiles that was loaded as one, and its content. */
export interface TileEntry {
  readonly rect: TileRect;
  readonly keys: readonly TileKey[];
  /** In ms. */
  readonly requestedAt: number;
  content: TileContent;
  /** How many markers may be drawn individually, so that a change can be applied here; 0 if only the server can apply it. */
  readonly maxMarkers: number;
  /** Drawn until it is replaced, but loaded again. */
  stale: boolean;
}

/** Tiles that are kept beside those on the screen. */
const MAX_TILES = 1_000;
/** A response may lack changes emitted this long before it was requested, in ms: indexes follow a little later. */
const INDEX_LAG = 1_000;
/** The same for counts, which follow the stream. */
export const COUNTS_LAG = 3_000;
/** How long changes are kept for responses under way, in ms: longer than any response takes. */
const CHANGES_KEPT = 15_000;

/** Applies a change to an entry. Returns whether it is visible there. */
function applyTo(entry: TileEntry, { id, kind, marker, previous }: MarkerChange): boolean {
  const { content, maxMarkers } = entry;
  // Clusters depend on markers a little beyond the edge.
  const bounds = content.clusters.length > 0 ? surroundings(entry.rect) : tileBounds(entry.rect);
  const isHere = marker !== null && kind !== 'DELETED' && holds(bounds, marker.position);
  const wasHere = (previous !== null && holds(bounds, previous)) || content.markers.some((each) => each.id === id);
  if (!isHere && !wasHere) return false;
  const others = content.markers.filter((each) => each.id !== id);
  if (maxMarkers > 0) entry.content = { ...content, markers: isHere ? [...others, marker] : others };
  if (maxMarkers === 0 || entry.content.markers.length > maxMarkers) entry.stale = true;
  return true;
}

/** The tiles that have been loaded. */
export class TileCache {
  /** In the order of insertion. */
  readonly #byTile = new Map<TileKey, TileEntry>();
  #recent: readonly { readonly at: number; readonly change: MarkerChange }[] = [];

  get(key: TileKey): TileEntry | undefined {
    return this.#byTile.get(key);
  }

  /** The entries of these tiles, each once. */
  getAll(keys: readonly TileKey[]): TileEntry[] {
    return [...new Set(keys.flatMap((key) => this.get(key) ?? []))];
  }

  /** Adds an entry, applies recent changes that it may lack, and evicts older entries with the same tiles. */
  put(entry: TileEntry): void {
    for (const older of this.getAll(entry.keys)) this.#evict(older);
    for (const oldest of this.#all()) {
      if (this.#byTile.size + entry.keys.length <= MAX_TILES) break;
      this.#evict(oldest);
    }
    for (const key of entry.keys) this.#byTile.set(key, entry);
    const lag = entry.maxMarkers > 0 ? INDEX_LAG : COUNTS_LAG;
    for (const { at, change } of this.#recent) if (at > entry.requestedAt - lag) applyTo(entry, change);
  }

  /** Applies a change to the entries it affects and returns them. Those that cannot take it become stale. */
  apply(change: MarkerChange): TileEntry[] {
    const now = Date.now();
    this.#recent = [...this.#recent.filter(({ at }) => at > now - CHANGES_KEPT), { at: now, change }];
    return [...this.#all()].filter((entry) => applyTo(entry, change));
  }

  /** Makes stale what was requested before a time, in ms. */
  expireBefore(time: number): void {
    for (const entry of this.#all()) if (entry.requestedAt < time) entry.stale = true;
  }

  /** Makes stale what is not entirely within these bounds. */
  expireOutside(bounds: Bounds): void {
    for (const entry of this.#all()) {
      const { west, south, east, north } = tileBounds(entry.rect);
      const isWithin = [
        { lng: west, lat: south },
        { lng: east > 180 ? east - 360 : east, lat: north },
      ].every((corner) => holds(bounds, corner));
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

/** The items of all lists, unique by name; the last of several wins. */
function unique<T>(lists: readonly (readonly T[])[], name: (each: T) => string): T[] {
  return [...new Map(lists.flat().map((each) => [name(each), each])).values()];
}

/**
 * The content of several entries as one. Clusters of a level are the same in every rectangle, so a cluster on an edge comes
 * from both sides and is drawn once; a marker of one entry may already be counted in a cluster of another. Where entries
 * contradict each other because the markers have changed in between, the latest wins.
 */
function merge(entries: readonly TileEntry[]): TileContent {
  const lists = <K extends keyof TileContent>(kind: K) => entries.map(({ content }) => content[kind]);
  const drawn = new Set<string>();
  const latest = entries.toSorted((a, b) => b.requestedAt - a.requestedAt);
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

/** Merges the content of entries; returns the same lists as long as nothing has changed. */
export function createMerge(): (entries: readonly TileEntry[]) => TileContent {
  let parts: readonly TileContent[] = [];
  let merged: TileContent = EMPTY;
  return (entries) => {
    if (entries.length !== parts.length || entries.some(({ content }, index) => content !== parts[index])) {
      parts = entries.map(({ content }) => content);
      merged = merge(entries);
    }
    return merged;
  };
}
