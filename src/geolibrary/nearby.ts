import { badInput } from '../errors.js';
import { HALF_AROUND } from '../geo/circle.js';
import { EARTH_RADIUS } from '../geo/distance.js';
import { type Point, readPoint } from '../geo/point.js';
import { type NearMarker, compareNear } from '../map/near/by-distance.js';
import { Budget } from '../loaders/budget.js';
import { listName } from '../map/cursor.js';
import type { MarkerFilter, MarkerFilterInput } from '../map/filter.js';
import { type NearbyPage, nearbyPage, readNearInput } from '../map/near/near.js';
import type { PageInput } from '../map/page.js';
import { type ScanSource, endedAt, scanOn } from '../map/near/scan.js';
import type { MapMarker } from '../model/marker.js';
import { planQueries } from './plan.js';
import { type TableContext, isGeoPosition, readAt, readMarkers } from './read.js';
import { coverRegion, ringRegion } from './s2.js';

export interface NearbyQuery extends PageInput {
  readonly center: Point;
  /** Metres. */
  readonly radius: number;
  readonly filter?: MarkerFilterInput | null | undefined;
}

const COVER = 48;
/** Smaller cells cover a long ring with fewer hash keys. */
const FINE_COVER = 600;
/** The first ring is at most this fraction of the radius wide, and each further ring at most twice as wide as the last. */
const FIRST_PART = 8;
const NARROWEST = 1;

/** Twice the distance that would contain `first` of the items, if they were spread evenly over the globe. */
function firstWidth(radius: number, first: number, items: number): number {
  const even = 4 * EARTH_RADIUS * Math.sqrt(first / Math.max(1, items));
  return Math.max(NARROWEST, Math.min(radius / FIRST_PART, even));
}

/**
 * A page of the markers around a point, read in rings outward until it is full, so that a page costs what it contains.
 * A ring that takes more than the budget of a page is scanned over several pages; all but the last are empty. Throws
 * BAD_USER_INPUT for an invalid centre or radius.
 */
export async function readNearby(
  context: TableContext,
  { center: at, radius, filter: filterInput, ...page }: NearbyQuery,
  filter: MarkerFilter | undefined,
): Promise<NearbyPage> {
  const { limits, layout, collection } = context;
  const center = readPoint('center', at.lng, at.lat);
  if (typeof radius !== 'number' || !(radius >= 0 && radius < Infinity)) {
    throw badInput('radius', radius, 'metres, 0 or more');
  }
  const end = { distance: Math.min(radius, HALF_AROUND), key: null };
  const name = listName(['geo-table within', center, collection.key, filterInput ?? null]);
  const { request, cursor } = readNearInput(limits, name, page, isGeoPosition);
  const { first } = request;
  const begun = cursor.resumeAfter.distance;
  let { resumeAfter, scan, width = firstWidth(end.distance, first, layout.items) } = cursor;
  const budget = Budget.of(limits);

  const source: ScanSource = {
    async read({ from, upTo }, scanned, accept) {
      const region = ringRegion(center, from.distance, upTo.distance);
      const planOf = (cells: number) => planQueries(coverRegion(region, cells), layout.hashKeyLength);
      let plan = planOf(COVER);
      if (plan.hashKeys > BigInt(budget.calls)) plan = planOf(FINE_COVER);
      const search = { plan, accept, filter, budget, wanted: Infinity, after: scanned === '' ? undefined : scanned };
      const result = await readMarkers(context, search);
      return { found: result.found, scanned: result.ended ? null : (result.resumeAfter ?? scanned) };
    },
    loads: () => budget.calls,
    // Items with different hash keys may have the same range key.
    identityOf: ({ indexPosition }) => indexPosition,
    async load(pending) {
      const markers = await Promise.all(pending.map(({ indexPosition }) => readAt(context, indexPosition, budget)));
      const passes = (marker: MapMarker) => filter === undefined || filter.verdict(marker, collection) === 'pass';
      return markers.filter((marker) => marker !== undefined).filter(passes);
    },
  };

  const found: NearMarker[] = [];
  while (found.length <= first && compareNear(resumeAfter, end) < 0 && budget.calls > 0 && budget.items > 0) {
    const from = resumeAfter;
    const upTo = { distance: Math.min(end.distance, from.distance + width), key: null };
    const most = scan ? first - found.length : Infinity;
    const ring = endedAt(scan ?? { upTo, scanned: '', pending: [] }, end);
    const result = await scanOn({ center, from }, ring, most, source);
    found.push(...result.found);
    ({ resumeAfter, rest: scan } = result);
    if (scan) break;
    width = Math.max(NARROWEST, 2 * (resumeAfter.distance - from.distance));
  }

  const full = found.length > first;
  // The page was full before all that was read: the next page does not need to read as far.
  if (full) width = Math.min(width, Math.max(NARROWEST, 2 * ((found[first - 1]?.distance ?? 0) - begun)));
  const isOpen = compareNear(resumeAfter, end) < 0;
  const rest = isOpen ? { resumeAfter, scan, width } : undefined;
  return nearbyPage(name, found, request, rest, width);
}
