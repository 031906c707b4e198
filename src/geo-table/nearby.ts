import { badInput, limitExceeded } from '../errors.js';
import { EARTH_RADIUS, distance } from '../geo/distance.js';
import { type Point, readPoint } from '../geo/point.js';
import { listName, readCursor, writeCursor } from '../map/cursor.js';
import type { MarkerFilter, MarkerFilterInput } from '../map/filter.js';
import type { NearbyPage } from '../map/near.js';
import { type PageInput, readWhole } from '../map/page.js';
import type { MapMarker } from '../model/marker.js';
import { planQueries } from './plan.js';
import { type Reading, readMarkers } from './read.js';
import { coverRegion, ringRegion } from './s2.js';

export interface NearbyQuestion extends PageInput {
  readonly center: Point;
  /** Metres. */
  readonly radius: number;
  readonly filter?: MarkerFilterInput | null | undefined;
}

const COVER = 48;
const FINE_COVER = 600;
const FARTHEST = Math.PI * EARTH_RADIUS;
/** The first ring reaches as far as this part of the radius; each further one is twice as wide. */
const FIRST_PART = 8;
/** How much narrower a ring is tried where it held too much; below this many metres no ring will do. */
const NARROWER = 8;
const NARROWEST = 0.01;

/** How far a list is told: up to a distance and, at that distance, up to a key; and how wide the next ring may be. */
interface Told {
  readonly distance: number;
  /** Undefined where all at that distance is told. */
  readonly key: string | undefined;
  readonly width: number;
}

const PLACE = /^(-?[\d.e+-]+) ([\d.e+-]+)(?: (.+))?$/s;
const placeOf = ({ distance: away, key, width }: Told) => `${away} ${width}${key === undefined ? '' : ` ${key}`}`;

function toldBy(place: string): Told {
  const [, away = '0', width = '1', key] = PLACE.exec(place) ?? [];
  return { distance: Number(away), width: Number(width), key };
}

interface Found {
  readonly distance: number;
  readonly marker: MapMarker;
}

const nearestFirst = (a: Found, b: Found) => a.distance - b.distance || (a.marker.key < b.marker.key ? -1 : 1);

/**
 * A page of the markers around a point, read in rings outward until it is full, so that a page costs as much as it holds.
 * Throws BAD_USER_INPUT for what is no circle, and LIMIT_EXCEEDED where the narrowest ring takes more than a page may.
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
  const reach = Math.min(radius, FARTHEST);
  const name = listName(['geo-table within', center, radius, collection.key, filterInput ?? null]);
  const isFirst = after === null || after === undefined;
  let told: Told = isFirst
    ? { distance: -1, key: undefined, width: Math.max(1, reach / FIRST_PART) }
    : toldBy(readCursor(name, after, (place) => PLACE.test(place)));
  const begun = Math.max(0, told.distance);
  const found: Found[] = [];
  let calls = limits.rangesPerPage;
  let items = limits.itemsPerField;
  let tries = 0;

  const isOpen = () => told.distance < reach || told.key !== undefined;

  while (found.length <= first && isOpen() && calls > 0 && items > 0) {
    const { distance: from, key, width } = told;
    const to = Math.min(reach, Math.max(0, from) + width);
    const ring = ringRegion(center, Math.max(0, from), to);
    const planOf = (cells: number) => planQueries(coverRegion(ring, cells), layout.hashKeyLength);
    let plan = planOf(COVER);
    // A long ring is covered by few cells only if these are wide.
    if (plan.hashKeys > BigInt(calls)) plan = planOf(FINE_COVER);
    const fits = plan.hashKeys <= BigInt(calls);
    if (!fits && tries > 0 && plan.hashKeys <= BigInt(limits.rangesPerPage)) break;
    tries++;
    const away = (marker: MapMarker) => distance(center, marker.position);
    const accept = (marker: MapMarker) => {
      const far = away(marker);
      return far <= to && (far > from || (far === from && key !== undefined && marker.key > key));
    };
    const read = fits
      ? await readMarkers(
          { ...reading, limits: { ...limits, rangesPerPage: calls, itemsPerField: items } },
          { plan, accept, filter, wanted: Infinity },
        )
      : undefined;
    calls -= read?.calls ?? 0;
    items -= read?.items ?? 0;
    if (read?.ended === true) {
      found.push(...read.found.map(({ marker }) => ({ distance: away(marker), marker })).toSorted(nearestFirst));
      told = { distance: to, key: undefined, width: 2 * width };
      continue;
    }
    if (width <= NARROWEST && found.length > 0) break;
    if (width <= NARROWEST) {
      throw limitExceeded(
        'within',
        'more than a page may read',
        `${limits.rangesPerPage} Query calls or ${limits.itemsPerField} items`,
        'ask for a smaller radius: no ring around its center is narrow enough at that distance',
      );
    }
    told = { ...told, width: width / NARROWER };
  }

  const full = found.length > first;
  // A page that held less than was read: the next one need not read so far again.
  const width = full
    ? Math.min(told.width, Math.max(NARROWEST, 2 * ((found[first - 1]?.distance ?? 0) - begun)))
    : told.width;
  const edges = found.slice(0, first).map(({ distance: away, marker }) => ({
    cursor: writeCursor(name, placeOf({ distance: away, key: marker.key, width })),
    distance: away,
    node: marker,
  }));
  const hasNextPage = full || isOpen();
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: !isFirst,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: full || !hasNextPage ? (edges.at(-1)?.cursor ?? null) : writeCursor(name, placeOf(told)),
    },
  };
}
