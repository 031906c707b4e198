import { distance } from '../../geo/distance.js';
import type { Point } from '../../geo/point.js';
import type { MapMarker } from '../../model/marker.js';
import {
  type Kept,
  type NearMarker,
  type Reached,
  type Sweep,
  compareReached,
  nearestFirst,
  reachedBy,
} from './by-distance.js';
import type { Placed } from '../markers/walk.js';

/** A ring around a center, from one place in the order of distances (not included) up to another. */
export interface SweptRing {
  readonly center: Point;
  readonly from: Reached;
  readonly upTo: Reached;
}

/** Looks at the markers of a ring in the order of an index. */
export interface SweepSource {
  /** Those from a place on ('' for all) that `accept` takes, as far as one page may read; where that ends, if not at the end. */
  scan(
    ring: SweptRing,
    seen: string,
    accept: (marker: MapMarker) => boolean,
  ): Promise<{ readonly found: readonly Placed[]; readonly seen: string | null }>;
  /** What former pages have kept, as it is now: fewer where some have gone, or do not pass the filter any more. */
  load(kept: readonly Kept[]): Promise<readonly MapMarker[]>;
  /** How many of them this page may still load. */
  loads(): number;
  /** What is the same of a marker wherever it moves to. */
  identityOf(one: Pick<Kept, 'key' | 'place'>): string;
}

export interface Swept {
  /** Markers that can be told, the nearest first. */
  readonly told: readonly NearMarker[];
  /** Up to where they tell everything. */
  readonly reached: Reached;
  /** What is left of the ring; undefined where nothing is. */
  readonly rest: Sweep | undefined;
}

/** A cursor keeps so many bytes of what was found: some hundred markers, and it still fits into a URL. */
const KEPT_BYTES = 6_000;

/** What a cursor can keep of what was found, the nearest; and where the ring ends then. */
function trimmed(found: readonly Kept[], upTo: Reached): Pick<Sweep, 'kept' | 'upTo'> {
  let bytes = 0;
  const fits = found.findIndex(({ distance: far, key, place }, index) => {
    bytes += Buffer.byteLength(JSON.stringify([far, key, place]));
    return index > 0 && bytes > KEPT_BYTES;
  });
  const kept = fits < 0 ? found : found.slice(0, fits);
  const last = fits < 0 ? undefined : kept.at(-1);
  return { kept, upTo: last ? { distance: last.distance, key: last.key } : upTo };
}

/** A sweep that goes no farther than this: the radius may be another one than on the page before. */
export function endedAt(sweep: Sweep, end: Reached): Sweep {
  if (compareReached(sweep.upTo, end) <= 0) return sweep;
  return { ...sweep, upTo: end, kept: sweep.kept.filter((one) => compareReached(one, end) <= 0) };
}

/**
 * Looks on through a ring, as far as one page may read, and tells at most `first` markers once all of it is seen. Where
 * it was seen in one page, all that was found may be told.
 */
export async function sweepOn(
  { center, from }: Pick<SweptRing, 'center' | 'from'>,
  sweep: Sweep,
  first: number,
  source: SweepSource,
): Promise<Swept> {
  const { upTo } = sweep;
  const near = (marker: MapMarker): NearMarker => ({ marker, distance: distance(center, marker.position) });
  const isBetween = (one: NearMarker, end: Reached) =>
    compareReached(reachedBy(one), from) > 0 && compareReached(reachedBy(one), end) <= 0;
  let { seen, kept } = sweep;
  const now = new Map<string, MapMarker>();
  if (seen !== null) {
    const scanned = await source.scan({ center, from, upTo }, seen, (marker) => isBetween(near(marker), upTo));
    seen = scanned.seen;
    const found = scanned.found.map(({ marker, place }) => {
      const one = { distance: near(marker).distance, key: marker.key, place };
      now.set(source.identityOf(one), marker);
      return one;
    });
    // What has moved within the ring meanwhile is where it was found last.
    kept = [...kept.filter((one) => !now.has(source.identityOf(one))), ...found];
    kept = kept.toSorted(compareReached);
  }
  if (seen !== null) return { told: [], reached: from, rest: { seen, ...trimmed(kept, upTo) } };

  const next: Kept[] = [];
  const unknown: Kept[] = [];
  const most = source.loads();
  for (const one of kept.slice(0, first)) {
    const isKnown = now.has(source.identityOf(one));
    if (!isKnown && unknown.length >= most) break;
    if (!isKnown) unknown.push(one);
    next.push(one);
  }
  const last = next.at(-1);
  const left = kept.slice(next.length);
  const rest = left.length > 0 ? { seen, ...trimmed(left, upTo) } : undefined;
  const end = last ? { distance: last.distance, key: last.key } : from;
  const reached = rest ? end : upTo;
  const markers = [...(await source.load(unknown)), ...next.flatMap((one) => now.get(source.identityOf(one)) ?? [])];
  // What has moved since it was kept may stand elsewhere in the order.
  const told = nearestFirst(markers.map(near).filter((one) => isBetween(one, reached)));
  return { told, reached, rest };
}
