import { badInput } from '../errors.js';
import { HALF_AROUND } from '../geo/circle.js';
import { EARTH_RADIUS } from '../geo/distance.js';
import { readPoint, type Point } from '../geo/point.js';
import { Budget } from '../loaders/budget.js';
import type { ConnectionArguments } from '../map/connection.js';
import { nearbyConnection, readNearArguments, type NearbyConnection } from '../map/near/near.js';
import { walkRings, type ScanSource } from '../map/near/scan.js';
import type { MapMarker } from '../model/marker.js';
import type { MarkerFilter, MarkerFilterInput } from '../read/filter.js';
import { COVER, planQueries } from './plan.js';
import { isGeoPosition } from './position.js';
import { readAt, readMarkers, type TableContext } from './read.js';
import { coverRegion, ringRegion } from './s2.js';

export interface NearbyQuery extends ConnectionArguments {
  readonly center: Point;
  /** In meters. */
  readonly radius: number;
  readonly filter?: MarkerFilterInput | null | undefined;
}

/** Smaller cells cover a long ring with fewer hash keys. */
const FINE_COVER = 600;
/** The first ring's width is at most the radius divided by this. */
const FIRST_PART = 8;

/** Twice the distance that would contain `first` of the items if they were spread evenly over the globe. */
function firstWidth(radius: number, first: number, items: number): number {
  const even = 4 * EARTH_RADIUS * Math.sqrt(first / Math.max(1, items));
  return Math.min(radius / FIRST_PART, even);
}

/**
 * A page of the markers around a point, read in rings outward. Throws BAD_USER_INPUT for an invalid center or radius.
 */
export async function readNearby(
  context: TableContext,
  { center: at, radius: asked, filter: filterInput, ...page }: NearbyQuery,
  filter: MarkerFilter | undefined,
): Promise<NearbyConnection> {
  const { limits, layout, collection } = context;
  const center = readPoint('center', at.lng, at.lat);
  if (typeof asked !== 'number' || !(asked >= 0 && asked < Infinity)) {
    throw badInput('radius', asked, 'meters, 0 or more');
  }
  const radius = Math.min(asked, HALF_AROUND);
  const list = ['geo-table within', center, collection.key, filterInput ?? null];
  const request = readNearArguments(limits, list, page, isGeoPosition);
  const { wanted, start: cursor } = request;
  const budget = Budget.of(limits);

  const source: ScanSource = {
    async read(from, upTo, scanned, accept) {
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

  const width = firstWidth(radius, request.first, layout.items);
  return nearbyConnection(request, await walkRings({ center, radius, cursor, wanted, budget }, source, width, 2));
}
