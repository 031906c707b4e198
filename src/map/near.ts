import { badInput } from '../errors.js';
import { HALF_AROUND } from '../geo/circle.js';
import { type Point, readPoint } from '../geo/point.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker } from '../model/marker.js';
import type { MapContext } from './context.js';
import { listName, readCursor, writeCursor } from './cursor.js';
import { type MarkerFilterInput, readFilter } from './filter.js';
import { type NearMarker, type Reached, walkOutward } from './outward.js';
import { type MarkerPage, type PageInput, readWhole } from './page.js';
import { tooMuch } from './read-all.js';

/** A marker of a list by distance. */
export interface NearbyEdge {
  readonly node: MapMarker;
  /** In metres, along a great circle. */
  readonly distance: number;
  readonly cursor: string;
}

/** One whose cursor is written when it is asked for. */
class Edge implements NearbyEdge {
  readonly node: MapMarker;
  readonly distance: number;
  readonly #list: string;

  constructor(list: string, { distance, marker }: NearMarker) {
    this.node = marker;
    this.distance = distance;
    this.#list = list;
  }

  get cursor(): string {
    return cursorOf(this.#list, { distance: this.distance, key: this.node.key });
  }
}

/** A page of markers by their distance, then by the bytes of their keys. */
export interface NearbyPage {
  readonly edges: readonly NearbyEdge[];
  readonly pageInfo: MarkerPage['pageInfo'];
}

/** Nothing is farther away than half around the globe, 20,015,114.35 metres; what it comes to beyond these digits may be asked for, too. */
const FARTHEST = 20_015_114.35;
const readMetres = (field: string, value: unknown): number => {
  if (typeof value === 'number' && value >= 0 && value <= HALF_AROUND) return value < FARTHEST ? value : HALF_AROUND;
  throw badInput(field, value, `a distance from 0 to ${FARTHEST} metres, half around the globe`);
};

/** Up to this radius in metres a page makes do with few Query calls, and with one for each prefix of two characters at a pole. */
const LOCAL = 50_000;
const LOCAL_CALLS = 16;
const POLAR_CALLS = 32;
const POLAR_LAT = 89;

function callsFor({ lat }: Point, radius: number, { rangesPerPage }: MapContext['limits']): number {
  if (radius > LOCAL) return rangesPerPage;
  return Math.min(rangesPerPage, Math.abs(lat) >= POLAR_LAT ? POLAR_CALLS : LOCAL_CALLS);
}

const cursorOf = (list: string, { distance, key }: Reached) => writeCursor(list, JSON.stringify([distance, key]));

/** The place in a list by distance that a cursor's text stands for. */
function parseReached(text: string): Reached | undefined {
  try {
    const parts: unknown = JSON.parse(text);
    if (!Array.isArray(parts) || parts.length !== 2) return undefined;
    const [distance, key] = parts as readonly unknown[];
    const isDistance = typeof distance === 'number' && distance >= 0 && distance <= HALF_AROUND;
    return isDistance && (key === null || typeof key === 'string') ? { distance, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The radius is no part of it: a further page, or the one behind `nearest`, may look farther. */
const nameOf = (collection: Collection, center: Point, filter: MarkerFilterInput | null | undefined) =>
  listName(['near', center, collection.key, filter ?? null]);

/**
 * A page of the markers within so many metres (0 to half around the globe) of a center, both ends included, that pass the
 * filter: the nearest first, those equally far in the order of their keys. It holds fewer than `first` where its ceiling
 * of reads ends it and then has a next page. Throws BAD_USER_INPUT naming what is wrong.
 */
export async function markersWithin(
  context: MapContext,
  collection: Collection,
  circle: { readonly center: Point; readonly radius: number },
  page: PageInput,
  filterInput?: MarkerFilterInput | null,
): Promise<NearbyPage> {
  const first = readWhole('first', page.first, 1, context.limits.maxFirst);
  const center = readPoint('center', circle.center.lng, circle.center.lat);
  const radius = readMetres('radius', circle.radius);
  const filter = readFilter(filterInput);
  const list = nameOf(collection, center, filterInput);
  const isFirst = page.after === null || page.after === undefined;
  const fits = (text: string) => parseReached(text) !== undefined;
  const after = isFirst ? undefined : parseReached(readCursor(list, page.after, fits));
  const { found, reached } = await walkOutward(context, {
    field: 'within',
    collection,
    center,
    radius,
    after,
    filter,
    // One more tells whether there is a next page.
    wanted: first + 1,
    calls: callsFor(center, radius, context.limits),
  });
  const edges = found.slice(0, first).map((near) => new Edge(list, near));
  const full = found.length > first;
  const last = edges.at(-1)?.cursor ?? null;
  return {
    edges,
    pageInfo: {
      hasNextPage: full || reached !== undefined,
      hasPreviousPage: !isFirst,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: full || reached === undefined ? last : cursorOf(list, reached),
    },
  };
}

/** Most markers that `nearest` tells. */
const MOST_NEAREST = 1_000;

/**
 * The nearest markers that pass the filter, at most so many (1 to 1,000) and none farther than `maxRadius` metres: the
 * nearest first, those equally far in the order of their keys. Throws BAD_USER_INPUT naming what is wrong, and
 * LIMIT_EXCEEDED where it takes more reads than one field may: never other than the nearest.
 */
export async function nearestMarkers(
  context: MapContext,
  collection: Collection,
  asked: { readonly center: Point; readonly count: number; readonly maxRadius?: number | null | undefined },
  filterInput?: MarkerFilterInput | null,
): Promise<readonly NearbyEdge[]> {
  const { rangesPerPage, itemsPerField } = context.limits;
  const wanted = readWhole('count', asked.count, 1, MOST_NEAREST);
  const center = readPoint('center', asked.center.lng, asked.center.lat);
  const radius = readMetres('maxRadius', asked.maxRadius ?? HALF_AROUND);
  const { found, reached } = await walkOutward(context, {
    field: 'nearest',
    collection,
    center,
    radius,
    filter: readFilter(filterInput),
    wanted,
    calls: 2 * rangesPerPage,
  });
  if (reached !== undefined && found.length < wanted) {
    throw tooMuch('nearest', 2 * rangesPerPage, itemsPerField, 'name a maxRadius, or page through within');
  }
  const list = nameOf(collection, center, filterInput);
  return found.map((near) => new Edge(list, near));
}
