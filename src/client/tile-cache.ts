import type { MarkerChange } from './change-feed.js';
import type { MapCell, MapCluster, MapMarker, MapZone } from './options.js';
import { type Bounds, type TileKey, type TileRect, holds, tileBounds } from './tiles.js';

/** What is drawn. */
export interface TileContent {
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  readonly cells: readonly MapCell[];
  readonly zones: readonly MapZone[];
}

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
const COUNTS_LAG = 3_000;
/** How long changes are kept for responses under way, in ms: longer than any response takes. */
const CHANGES_KEPT = 15_000;

/** The tiles that have been loaded. */
export interface TileCache {
  get(key: TileKey): TileEntry | undefined;
  /** The entries of these tiles, each once. */
  getAll(keys: readonly TileKey[]): TileEntry[];
  /** Adds an entry, applies recent changes that it may lack, and evicts older entries with the same tiles. */
  put(entry: TileEntry): void;
  /** Applies a change to the entries it affects and returns them. Those that cannot take it become stale. */
  apply(change: MarkerChange): TileEntry[];
  /** Makes stale what was requested before a time, in ms. */
  expireBefore(time: number): void;
  /** Makes stale what is not entirely within these bounds. */
  expireOutside(bounds: Bounds): void;
}

/** Applies a change to an entry. Returns whether it is visible there. */
function applyTo(entry: TileEntry, { id, kind, marker, previous }: MarkerChange): boolean {
  const { content, maxMarkers } = entry;
  const bounds = tileBounds(entry.rect);
  const isHere = marker !== null && kind !== 'DELETED' && holds(bounds, marker.position);
  const wasHere = (previous !== null && holds(bounds, previous)) || content.markers.some((each) => each.id === id);
  if (!isHere && !wasHere) return false;
  const others = content.markers.filter((each) => each.id !== id);
  if (maxMarkers > 0) entry.content = { ...content, markers: isHere ? [...others, marker] : others };
  if (maxMarkers === 0 || entry.content.markers.length > maxMarkers) entry.stale = true;
  return true;
}

export function createTileCache(): TileCache {
  /** In the order of insertion. */
  const byTile = new Map<TileKey, TileEntry>();
  let recent: readonly { readonly at: number; readonly change: MarkerChange }[] = [];
  const all = () => new Set(byTile.values());

  const evict = ({ keys }: TileEntry) => {
    for (const key of keys) byTile.delete(key);
  };

  return {
    get: (key) => byTile.get(key),
    getAll: (keys) => [...new Set(keys.flatMap((key) => byTile.get(key) ?? []))],
    put(entry) {
      for (const key of entry.keys) {
        const older = byTile.get(key);
        if (older) evict(older);
      }
      for (const oldest of all()) {
        if (byTile.size + entry.keys.length <= MAX_TILES) break;
        evict(oldest);
      }
      for (const key of entry.keys) byTile.set(key, entry);
      const lag = entry.maxMarkers > 0 ? INDEX_LAG : COUNTS_LAG;
      for (const { at, change } of recent) if (at > entry.requestedAt - lag) applyTo(entry, change);
    },
    apply(change) {
      const now = Date.now();
      recent = [...recent.filter(({ at }) => at > now - CHANGES_KEPT), { at: now, change }];
      return [...all()].filter((entry) => applyTo(entry, change));
    },
    expireBefore(time) {
      for (const entry of all()) if (entry.requestedAt < time) entry.stale = true;
    },
    expireOutside(bounds) {
      for (const entry of all()) {
        const { west, south, east, north } = tileBounds(entry.rect);
        const isWithin = [
          { lng: west, lat: south },
          { lng: east > 180 ? east - 360 : east, lat: north },
        ].every((corner) => holds(bounds, corner));
        if (!isWithin) entry.stale = true;
      }
    },
  };
}

/** The items of all lists, unique by name; the last of several wins. */
function unique<T>(lists: readonly (readonly T[])[], name: (each: T) => string): T[] {
  return [...new Map(lists.flat().map((each) => [name(each), each])).values()];
}

/**
 * The content of several entries as one. Clusters of a level are the same in every rectangle, so a cluster on an edge comes
 * from both sides and is drawn once; a marker of one entry may already be counted in a cluster of another.
 */
function merge(contents: readonly TileContent[]): TileContent {
  const lists = <K extends keyof TileContent>(kind: K) => contents.map((content) => content[kind]);
  const clusters = unique(lists('clusters'), ({ bounds }) => Object.values(bounds).join('/'));
  const isCounted = ({ position: { lng, lat } }: MapMarker) =>
    clusters.some(
      ({ bounds: { west, south, east, north } }) => west < lng && lng <= east && south < lat && lat <= north,
    );
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
      merged = merge(parts);
    }
    return merged;
  };
}
