import type { ClientChangesSubscription } from './generated.js';
import type { MapCell, MapCluster, MapMarker, MapZone } from './options.js';
import { type Bounds, type TileKey, type TileRect, holds, tileBounds } from './tiles.js';

/** What is drawn of a region. */
export interface RegionContent {
  readonly markers: readonly MapMarker[];
  readonly clusters: readonly MapCluster[];
  readonly cells: readonly MapCell[];
  readonly zones: readonly MapZone[];
}

export const NOTHING: RegionContent = { markers: [], clusters: [], cells: [], zones: [] };

/** A rectangle of tiles that was asked for as one, and what is known of it. */
export interface Region {
  readonly rect: TileRect;
  readonly keys: readonly TileKey[];
  /** When it was asked for, in ms. */
  readonly at: number;
  content: RegionContent;
  /** How many markers may be drawn one by one, so that a change can be put in without asking; 0 where it is drawn otherwise. */
  readonly mostMarkers: number;
  /** Drawn until it is replaced, but asked for again. */
  stale: boolean;
}

export type Change = ClientChangesSubscription['markerChanged'];

/** Tiles that are remembered beside those that are shown. */
const REMEMBERED_TILES = 1_000;
/** An answer may lack what was told so long before it was asked for, in ms: indexes follow changes a little later. */
const INDEX_LAG = 1_000;
/** The same for counts, which follow the stream. */
const COUNTS_LAG = 3_000;
/** Longer than an answer takes, in ms: changes are kept so long for those under way. */
const KEPT = 15_000;

/** What is known of the world. */
export interface Regions {
  /** The region that a tile is in. */
  at(key: TileKey): Region | undefined;
  /** Puts a region in, with the changes that may not be in it yet; older ones that share a tile with it are forgotten. */
  put(region: Region): void;
  /** The regions of these tiles, each once. */
  of(keys: readonly TileKey[]): Region[];
  /** Puts a change in wherever it shows; what cannot take it is stale. Returns the regions that it met. */
  change(change: Change): Region[];
  /** Marks all that were asked for before a moment, in ms. */
  age(before: number): void;
  /** Marks all that are not wholly within these bounds. */
  leave(bounds: Bounds): void;
}

/** Puts a change into a region. Returns whether it shows there. */
function apply(region: Region, { id, kind, marker, previous }: Change): boolean {
  const { content, mostMarkers } = region;
  const bounds = tileBounds(region.rect);
  const isHere = marker !== null && kind !== 'DELETED' && holds(bounds, marker.position);
  const wasHere = (previous !== null && holds(bounds, previous)) || content.markers.some((each) => each.id === id);
  if (!isHere && !wasHere) return false;
  const others = content.markers.filter((each) => each.id !== id);
  if (mostMarkers > 0) region.content = { ...content, markers: isHere ? [...others, marker] : others };
  if (mostMarkers === 0 || region.content.markers.length > mostMarkers) region.stale = true;
  return true;
}

/** Nothing is known yet. */
export function createRegions(): Regions {
  /** Each tile's region; those that were put in first come first. */
  const byTile = new Map<TileKey, Region>();
  let recent: readonly { readonly at: number; readonly change: Change }[] = [];
  const all = () => new Set(byTile.values());

  const forget = (region: Region) => {
    for (const key of region.keys) byTile.delete(key);
  };

  return {
    at: (key) => byTile.get(key),
    of: (keys) => [...new Set(keys.flatMap((key) => byTile.get(key) ?? []))],
    put(region) {
      for (const key of region.keys) {
        const older = byTile.get(key);
        if (older) forget(older);
      }
      for (const oldest of all()) {
        if (byTile.size + region.keys.length <= REMEMBERED_TILES) break;
        forget(oldest);
      }
      for (const key of region.keys) byTile.set(key, region);
      const lag = region.mostMarkers > 0 ? INDEX_LAG : COUNTS_LAG;
      for (const { at, change } of recent) if (at > region.at - lag) apply(region, change);
    },
    change(change) {
      const now = Date.now();
      recent = [...recent.filter(({ at }) => at > now - KEPT), { at: now, change }];
      return [...all()].filter((region) => apply(region, change));
    },
    age(before) {
      for (const region of all()) if (region.at < before) region.stale = true;
    },
    leave(bounds) {
      for (const region of all()) {
        const { west, south, east, north } = tileBounds(region.rect);
        const isWithin = [
          { lng: west, lat: south },
          { lng: east > 180 ? east - 360 : east, lat: north },
        ].every((corner) => holds(bounds, corner));
        if (!isWithin) region.stale = true;
      }
    },
  };
}

const boundsKey = ({ west, south, east, north }: Bounds) => `${west}/${south}/${east}/${north}`;

/** Each thing once, by its name; of several the last. */
function once<T>(lists: readonly (readonly T[])[], name: (each: T) => string): T[] {
  return [...new Map(lists.flat().map((each) => [name(each), each])).values()];
}

/** `unite` that gives the same lists as long as there is nothing new in them. */
export function createUnion(): (regions: readonly Region[]) => RegionContent {
  let united: readonly RegionContent[] = [];
  let union: RegionContent = NOTHING;
  return (regions) => {
    if (regions.length !== united.length || regions.some(({ content }, at) => content !== united[at])) {
      united = regions.map(({ content }) => content);
      union = unite(united);
    }
    return union;
  };
}

/**
 * What regions hold together. Clusters of a level are the same in whatever rectangle they are asked for, so those on an
 * edge come from both sides and are drawn once; a marker of one region may be counted in a cluster of the next.
 */
export function unite(contents: readonly RegionContent[]): RegionContent {
  const lists = <K extends keyof RegionContent>(kind: K) => contents.map((content) => content[kind]);
  const clusters = once(lists('clusters'), ({ bounds }) => boundsKey(bounds));
  const counted = ({ position: { lng, lat } }: MapMarker) =>
    clusters.some(
      ({ bounds: { west, south, east, north } }) => west < lng && lng <= east && south < lat && lat <= north,
    );
  return {
    clusters,
    markers: once(lists('markers'), ({ id }) => id).filter((marker) => !counted(marker)),
    cells: once(lists('cells'), ({ geohash }) => geohash),
    zones: once(lists('zones'), ({ id }) => id),
  };
}
