import { badInput } from '../errors.js';
import { HALF_AROUND } from '../geo/circle.js';
import { EARTH_RADIUS } from '../geo/distance.js';
import { type Point, readPoint } from '../geo/point.js';
import { type NearMarker, compareReached } from '../map/near/by-distance.js';
import { listName } from '../map/cursor.js';
import type { MarkerFilter, MarkerFilterInput } from '../map/filter.js';
import { type NearbyPage, nearbyPage, readTold } from '../map/near/near.js';
import { type PageInput, readWhole } from '../map/page.js';
import { type SweepSource, endedAt, sweepOn } from '../map/near/sweep.js';
import type { MapMarker } from '../model/marker.js';
import { planQueries } from './plan.js';
import { type Reading, isGeoPlace, readMarkers, readPlace } from './read.js';
import { coverRegion, ringRegion } from './s2.js';

export interface NearbyQuestion extends PageInput {
  readonly center: Point;
  /** Metres. */
  readonly radius: number;
  readonly filter?: MarkerFilterInput | null | undefined;
}

const COVER = 48;
/** A long ring goes through fewer hash keys where it is covered by narrow cells. */
const FINE_COVER = 600;
/** The first ring reaches as far as this part of the radius, and each further one is at most twice as wide. */
const FIRST_PART = 8;
const NARROWEST = 1;

/** Twice as far as where so many would be, were all there are evenly spread: markers are not, and most rings hold more. */
function firstWidth(radius: number, first: number, items: number): number {
  const even = 4 * EARTH_RADIUS * Math.sqrt(first / Math.max(1, items));
  return Math.max(NARROWEST, Math.min(radius / FIRST_PART, even));
}

/**
 * A page of the markers around a point, read in rings outward until it is full, so that a page costs as much as it holds.
 * A ring that takes more than a page may is looked at over several pages, of which all but the last hold nothing. Throws
 * BAD_USER_INPUT for what is no circle.
 */
export async function readNearby(
  reading: Reading,
  { center: at, radius, first: wanted, after, filter: filterInput }: NearbyQuestion,
  filter: MarkerFilter | undefined,
): Promise<NearbyPage> {
  const { limits, layout, collection } = reading;
  const first = readWhole('first', wanted, 1, limits.maxFirst);
  const center = readPoint('center', at.lng, at.lat);
  if (typeof radius !== 'number' || !(radius >= 0 && radius < Infinity)) {
    throw badInput('radius', radius, 'metres, 0 or more');
  }
  const end = { distance: Math.min(radius, HALF_AROUND), key: null };
  const name = listName(['geo-table within', center, collection.key, filterInput ?? null]);
  const isFirst = after === null || after === undefined;
  const told = readTold(name, after, isGeoPlace);
  const begun = told.reached.distance;
  let { reached, sweep, width = firstWidth(end.distance, first, layout.items) } = told;
  let calls = limits.rangesPerPage;
  let items = limits.itemsPerField;

  const source: SweepSource = {
    async scan({ from, upTo }, seen, accept) {
      const region = ringRegion(center, from.distance, upTo.distance);
      const planOf = (cells: number) => planQueries(coverRegion(region, cells), layout.hashKeyLength);
      let plan = planOf(COVER);
      if (plan.hashKeys > BigInt(calls)) plan = planOf(FINE_COVER);
      const left = { ...limits, rangesPerPage: calls, itemsPerField: items };
      const question = { plan, accept, filter, wanted: Infinity, after: seen === '' ? undefined : seen };
      const read = await readMarkers({ ...reading, limits: left }, question);
      calls -= read.calls;
      items -= read.items;
      return { found: read.found, seen: read.ended ? null : (read.cutAt ?? seen) };
    },
    loads: () => calls,
    // Under different hash keys there may be items of the same range key.
    identityOf: ({ place }) => place,
    async load(kept) {
      calls -= kept.length;
      const markers = await Promise.all(kept.map(({ place }) => readPlace(reading, place)));
      const passes = (marker: MapMarker) => filter === undefined || filter.verdict(marker, collection) === 'pass';
      return markers.filter((marker) => marker !== undefined).filter(passes);
    },
  };

  const found: NearMarker[] = [];
  while (found.length <= first && compareReached(reached, end) < 0 && calls > 0 && items > 0) {
    const from = reached;
    const wide = { upTo: { distance: Math.min(end.distance, from.distance + width), key: null }, seen: '', kept: [] };
    const most = sweep ? first - found.length : Infinity;
    const swept = await sweepOn({ center, from }, endedAt(sweep ?? wide, end), most, source);
    found.push(...swept.told);
    ({ reached, rest: sweep } = swept);
    if (sweep) break;
    width = Math.max(NARROWEST, 2 * (reached.distance - from.distance));
  }

  const full = found.length > first;
  // A page that held less than was read: the next one need not read so far again.
  if (full) width = Math.min(width, Math.max(NARROWEST, 2 * ((found[first - 1]?.distance ?? 0) - begun)));
  const isOpen = compareReached(reached, end) < 0;
  const rest = isOpen ? { reached, sweep, width } : undefined;
  return nearbyPage(name, found, { first, isFirst, rest, width });
}
