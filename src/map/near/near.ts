import { badInput } from '../../errors.js';
import { HALF_AROUND } from '../../geo/circle.js';
import { type Point, readPoint } from '../../geo/point.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker } from '../../model/marker.js';
import { BEGIN, type NearMarker, type Told, parseTold, reachedBy, toldText } from './by-distance.js';
import type { MapContext } from '../context.js';
import { isCursorPosition, listName, readCursor, writeCursor } from '../cursor.js';
import { type MarkerFilterInput, readFilter } from '../filter.js';
import { type OutwardQuestion, walkOutward } from './outward.js';
import { type MarkerPage, type PageInput, readWhole } from '../page.js';
import { tooMuch } from '../markers/read-all.js';
import { sweepRing } from './sweep-ring.js';

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
    const { node: marker, distance } = this;
    return cursorOf(this.#list, { reached: reachedBy({ distance, marker }) });
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

const cursorOf = (list: string, told: Told) => writeCursor(list, toldText(told));

/**
 * How far a list is told before a page; `isPlaceOf` says what the places of its index are like. Throws BAD_USER_INPUT for
 * what is no cursor of it.
 */
export function readTold(list: string, after: string | null | undefined, isPlaceOf: (text: string) => boolean): Told {
  if (after === null || after === undefined) return { reached: BEGIN };
  const fits = (text: string) => parseTold(text, isPlaceOf) !== undefined;
  return parseTold(readCursor(list, after, fits), isPlaceOf) ?? { reached: BEGIN };
}

interface PageOf {
  readonly first: number;
  readonly isFirst: boolean;
  /** How far the list is told by all that was found; undefined where that is all there is. */
  readonly rest: Told | undefined;
  readonly width?: number | undefined;
}

/** A page of what was found, which may be more than it holds. */
export function nearbyPage(
  list: string,
  found: readonly NearMarker[],
  { first, isFirst, rest, width }: PageOf,
): NearbyPage {
  const edges = found.slice(0, first).map((near) => new Edge(list, near));
  const last = found[edges.length - 1];
  const next = found.length > first && last ? { reached: reachedBy(last), width } : rest;
  return {
    edges,
    pageInfo: {
      hasNextPage: next !== undefined,
      hasPreviousPage: !isFirst,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: next ? cursorOf(list, next) : (edges.at(-1)?.cursor ?? null),
    },
  };
}

/** The radius is no part of it: a further page, or the one behind `nearest`, may look farther. */
const nameOf = (collection: Collection, center: Point, filter: MarkerFilterInput | null | undefined) =>
  listName(['near', center, collection.key, filter ?? null]);

/**
 * A page of the markers within so many metres (0 to half around the globe) of a center, both ends included, that pass the
 * filter: the nearest first, those equally far in the order of their keys. It holds fewer than `first`, maybe none, where
 * its ceiling of reads ends it and then has a next page. Throws BAD_USER_INPUT naming what is wrong, and LIMIT_EXCEEDED
 * where a page may not even read one prefix of the collection.
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
  const told = readTold(list, page.after, isCursorPosition);
  // One more tells whether there is a next page.
  const wanted = first + 1;
  const question: OutwardQuestion = {
    collection,
    center,
    radius,
    after: told.reached,
    filter,
    wanted,
    calls: callsFor(center, radius, context.limits),
  };
  const { found, rest } = told.sweep
    ? await sweepRing(context, question, told.sweep, first)
    : await outwardOrSweep(context, question, first);
  return nearbyPage(list, found, { first, isFirst, rest });
}

/** Markers outward, or at a wall, a first look at the ring behind it. */
async function outwardOrSweep(context: MapContext, question: OutwardQuestion, first: number) {
  const { found, reached, wall, calls } = await walkOutward(context, question);
  if (!reached || wall === undefined) return { found, rest: reached && { reached } };
  const sweep = { upTo: { distance: wall, key: null }, seen: '', kept: [] };
  const left = context.limits.rangesPerPage - calls;
  // What is left of the page may not do: the next one begins with it.
  if (2 * left < context.limits.rangesPerPage) return { found, rest: { reached, sweep } };
  const limits = { ...context.limits, rangesPerPage: left };
  return sweepRing({ ...context, limits }, { ...question, after: reached }, sweep, first);
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
