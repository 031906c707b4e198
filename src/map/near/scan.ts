import type { Point } from '../../geo/bounds.js';
import { HALF_AROUND } from '../../geo/circle.js';
import type { MapMarker } from '../../model/marker.js';
import type { OrderedMarker } from '../../pages/ordered-marker.js';
import {
  compareNear,
  nearMarker,
  type NearMarker,
  type NearPosition,
  type NearResult,
  type Pending,
  type RingQuery,
  type RingScan,
} from './by-distance.js';

/** Reads the markers of rings around a center in index order. */
export interface ScanSource {
  /**
   * Reads the markers of the ring from one position in distance order (excluded) to another, after a position in index
   * order ('' for all), that `accept` matches, as far as one connection may read, and returns where that ends; null at
   * the end.
   */
  read(
    from: NearPosition,
    upTo: NearPosition,
    scanned: string,
    accept: (marker: MapMarker) => boolean,
  ): Promise<{ readonly found: readonly OrderedMarker[]; readonly scanned: string | null }>;
  /**
   * The current state of markers kept by earlier connections, without those deleted or no longer matching the filter.
   */
  load(pending: readonly Pending[]): Promise<readonly MapMarker[]>;
  /** Number of markers that this connection may still load. */
  loads(): number;
  /** The identity of a marker, which does not change when it moves. */
  identityOf(one: Pending): string;
}

export interface ScanResult {
  /** Markers to emit, nearest first. */
  readonly found: readonly NearMarker[];
  /** Everything up to this position has been emitted. */
  readonly resumeAfter: NearPosition;
  /** The rest of the ring; undefined if nothing is left. */
  readonly rest: RingScan | undefined;
}

/** Maximum bytes of found markers in a cursor: about a hundred markers, and it still fits into a URL. */
const KEPT_BYTES = 6_000;

/** A scan with the nearest of the found markers that a cursor can hold, and where its ring then ends. */
function trimmed(scanned: string | null, found: readonly Pending[], upTo: NearPosition): RingScan {
  let bytes = 0;
  const fits = found.findIndex(({ distance: far, key, indexPosition }, index) => {
    bytes += Buffer.byteLength(JSON.stringify([far, key, indexPosition]));
    return index > 0 && bytes > KEPT_BYTES;
  });
  const pending = fits < 0 ? found : found.slice(0, fits);
  const last = fits < 0 ? undefined : pending.at(-1);
  return { scanned, pending, upTo: last ?? upTo };
}

/** Limits a scan to this distance: the radius may differ from that of the previous connection. */
export function endedAt(scan: RingScan, end: NearPosition): RingScan {
  if (compareNear(scan.upTo, end) <= 0) return scan;
  return { ...scan, upTo: end, pending: scan.pending.filter((one) => compareNear(one, end) <= 0) };
}

/**
 * Continues the scan of a ring as far as one connection may read, and emits at most `first` markers once the ring is
 * complete. If a single connection has read the whole ring, all markers found may be emitted.
 */
async function scanOn(
  center: Point,
  from: NearPosition,
  scan: RingScan,
  first: number,
  source: ScanSource,
): Promise<ScanResult> {
  const { upTo } = scan;
  const near = (marker: MapMarker) => nearMarker(center, marker);
  const isBetween = (one: NearMarker, end: NearPosition) => compareNear(one, from) > 0 && compareNear(one, end) <= 0;
  let { scanned, pending } = scan;
  const now = new Map<string, MapMarker>();
  if (scanned !== null) {
    const read = await source.read(from, upTo, scanned, (marker) => isBetween(near(marker), upTo));
    scanned = read.scanned;
    const found = read.found.map(({ marker, position }) => {
      const one = { distance: near(marker).distance, key: marker.key, indexPosition: position };
      now.set(source.identityOf(one), marker);
      return one;
    });
    // A marker that moved within the ring is at the position where it was found last.
    pending = [...pending.filter((one) => !now.has(source.identityOf(one))), ...found].toSorted(compareNear);
  }
  if (scanned !== null) return { found: [], resumeAfter: from, rest: trimmed(scanned, pending, upTo) };

  const next: Pending[] = [];
  const unknown: Pending[] = [];
  const most = source.loads();
  for (const one of pending.slice(0, first)) {
    const isKnown = now.has(source.identityOf(one));
    if (!isKnown && unknown.length >= most) break;
    if (!isKnown) unknown.push(one);
    next.push(one);
  }
  const last = next.at(-1);
  const left = pending.slice(next.length);
  const rest = left.length > 0 ? trimmed(scanned, left, upTo) : undefined;
  const resumeAfter = rest ? (last ?? from) : upTo;
  const markers = [...(await source.load(unknown)), ...next.flatMap((one) => now.get(source.identityOf(one)) ?? [])];
  // Kept markers may have moved to another position in the order.
  const found = markers
    .map(near)
    .filter((one) => isBetween(one, resumeAfter))
    .sort(compareNear);
  return { found, resumeAfter, rest };
}

const NARROWEST = 1;

/**
 * Reads rings outward until a connection is full, so that it costs what it contains; one with more markers than wanted
 * makes the connection longer. A ring that exceeds the budget of a connection is scanned over several connections, all
 * but the last of which are empty. The first ring is `firstWidth` meters wide if the previous connection does not
 * specify it, and each further one at most `growth` times as wide as the one before.
 */
export async function walkRings(
  { center, radius, cursor, wanted, budget }: RingQuery,
  source: ScanSource,
  firstWidth: number,
  growth: number,
): Promise<NearResult> {
  const end = { distance: radius, key: null };
  const first = wanted - 1;
  const begun = cursor.resumeAfter.distance;
  let { resumeAfter, scan, width = Math.max(NARROWEST, firstWidth) } = cursor;
  const found: NearMarker[] = [];
  while (found.length <= first && compareNear(resumeAfter, end) < 0 && budget.calls > 0 && budget.items > 0) {
    const from = resumeAfter;
    const upTo = { distance: Math.min(end.distance, from.distance + width), key: null };
    const most = scan ? first - found.length : Infinity;
    const ring = endedAt(scan ?? { upTo, scanned: '', pending: [] }, end);
    const result = await scanOn(center, from, ring, most, source);
    found.push(...result.found);
    ({ resumeAfter, rest: scan } = result);
    if (scan) break;
    width = Math.min(HALF_AROUND, Math.max(NARROWEST, growth * (resumeAfter.distance - from.distance)));
  }
  // The connection was full before everything read was used: the next connection need not read as far.
  if (found.length > first)
    width = Math.min(width, Math.max(NARROWEST, 2 * ((found[first - 1]?.distance ?? 0) - begun)));
  const rest = compareNear(resumeAfter, end) < 0 ? { resumeAfter, scan, width } : undefined;
  return { found, rest, width };
}
