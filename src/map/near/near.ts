import { badInput } from '../../errors.js';
import { readPoint, type Point } from '../../geo/bounds.js';
import { HALF_AROUND, ringRelation } from '../../geo/circle.js';
import { coverShape } from '../../geo/cover.js';
import { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import { withinRows, withoutHidden } from '../../model/grant.js';
import type { Limits } from '../../model/limits.js';
import type { MapMarker } from '../../model/marker.js';
import { Cursors, isCursorPosition } from '../../read/cursor.js';
import { readFilter, type MarkerFilterInput } from '../../read/filter.js';
import { findMarkers, tooMuch } from '../../read/find-markers.js';
import { readingPages } from '../../read/from-pages/page-source.js';
import type { SearchContext, SearchedPages } from '../../read/search.js';
import {
  connectionOf,
  Edge,
  readArguments,
  readWhole,
  type Connection,
  type ConnectionArguments,
  type ConnectionRequest,
} from '../connection.js';
import {
  BEGIN,
  compareNear,
  formatNearCursor,
  parseNearCursor,
  type NearCursor,
  type NearMarker,
  type NearQuery,
  type NearResult,
} from './by-distance.js';
import { PageWalk } from './page-walk.js';
import { walkRings, type ScanSource } from './scan.js';

/** A marker in a list by distance. */
export class NearbyEdge extends Edge<MapMarker> {
  /** Great-circle distance in meters. */
  readonly distance: number;

  constructor(cursors: Cursors, near: NearMarker) {
    super(near.marker, () => cursors.write(formatNearCursor({ resumeAfter: near })));
    this.distance = near.distance;
  }
}

/** Markers ordered by distance, then by the bytes of their keys. */
export type NearbyConnection = Connection<NearbyEdge>;

/**
 * Half the circumference of the globe is 20,015,114.35 meters; values that exceed it only in further decimals are
 * accepted.
 */
const FARTHEST = 20_015_114.35;
const readMeters = (field: string, value: unknown): number => {
  if (typeof value === 'number' && value >= 0 && value <= HALF_AROUND) return value < FARTHEST ? value : HALF_AROUND;
  throw badInput(field, value, `a distance from 0 to ${FARTHEST} meters, half the circumference of the globe`);
};

/** The same for a list by distance, with where it starts. */
interface NearRequest extends ConnectionRequest {
  readonly start: NearCursor;
}

/**
 * The validated arguments for a list by distance; `isPosition` recognizes positions in index order. Throws
 * BAD_USER_INPUT naming `first` or `after`.
 */
export function readNearArguments(
  limits: Limits,
  cursors: Cursors,
  input: ConnectionArguments,
  isPosition: (text: string) => boolean,
): NearRequest {
  const request = readArguments(limits, cursors, input, (text) => parseNearCursor(text, isPosition) !== undefined);
  const start = request.after === undefined ? undefined : parseNearCursor(request.after, isPosition);
  return { ...request, start: start ?? { resumeAfter: BEGIN } };
}

/** A connection of the found markers, which may be more than fit. */
export function nearbyConnection(request: ConnectionRequest, { found, rest, width }: NearResult): NearbyConnection {
  const { cursors } = request;
  const edges = found.map((near) => new NearbyEdge(cursors, near));
  const cursorAfter = ({ node: { key }, distance }: NearbyEdge) =>
    cursors.write(formatNearCursor({ resumeAfter: { distance, key }, width }));
  return connectionOf(request, edges, rest && formatNearCursor(rest), cursorAfter);
}

/** The radius does not identify the list: a further connection, or one after `nearest`, may use a larger one. */
const cursorsOf = (collection: Collection, center: Point, filter: MarkerFilterInput | null | undefined) =>
  new Cursors(['near', center, collection.key, filter ?? null], collection.grant);

/**
 * A connection of the markers within a radius in meters (0 to half the circumference of the globe) of a center, both
 * included, that match the filter: nearest first, ties in key order. A connection that its budget ends has fewer than
 * `first` markers, possibly none, and a next connection. Throws BAD_USER_INPUT naming the invalid argument.
 */
export async function markersWithin(
  context: SearchContext,
  collection: Collection,
  circle: { readonly center: Point; readonly radius: number },
  input: ConnectionArguments,
  filterInput?: MarkerFilterInput | null,
): Promise<NearbyConnection> {
  const center = readPoint('center', circle.center.lng, circle.center.lat);
  const radius = readMeters('radius', circle.radius);
  const filter = readFilter(filterInput);
  const cursors = cursorsOf(collection, center, filterInput);
  const request = readNearArguments(context.limits, cursors, input, isCursorPosition);
  const { start: cursor, wanted } = request;
  const query = { collection, center, radius, cursor, filter, wanted, budget: Budget.of(context.limits) };
  return nearbyConnection(request, await walkOutward(context, query));
}

/**
 * Markers by distance: from pages, the nearest first, or else in rings around the center, each by `findMarkers`. Rings
 * also read a crowd, which has more markers at one distance than can be read at once, over several connections.
 */
async function walkOutward(context: SearchContext, given: NearQuery): Promise<NearResult> {
  const { collection, cursor, radius } = given;
  const query = { ...given, filter: withinRows(collection, given.filter) };
  const { resumeAfter } = cursor;
  if (resumeAfter.distance > radius) return { found: [], rest: undefined };
  const walk = (pages: SearchedPages) => new PageWalk(context, query, pages).run();
  const walked = cursor.scan ? undefined : await readingPages(context, collection, walk);
  if (walked) {
    const { rest } = walked;
    const found = walked.found.map((one) => ({ ...one, marker: withoutHidden(collection, one.marker) }));
    if (!rest || compareNear(rest.resumeAfter, resumeAfter) > 0) return { found, rest };
    const upTo = { distance: Math.min(HALF_AROUND, resumeAfter.distance + CROWD), key: null };
    return { found, rest: { resumeAfter, scan: { upTo, scanned: '', pending: [] } } };
  }
  // These are found by `findMarkers`, which itself leaves out what the principal does not see.
  const { found, rest } = await walkRings(given, sourceOf(context, given), FIRST_RING, GROWTH);
  return { found, rest };
}

/** Width in meters of a ring that has more markers than can be read at once. */
const CROWD = 4;

/** Maximum number of markers that `nearest` returns. */
const MOST_NEAREST = 1_000;

/**
 * The nearest markers that match the filter, at most `count` (1 to 1,000) and none farther than `maxRadius` meters:
 * nearest first, ties in key order. Throws BAD_USER_INPUT naming the invalid argument, and LIMIT_EXCEEDED if that takes
 * more reads than one field may make: it never returns a wrong neighbor.
 */
export async function nearestMarkers(
  context: SearchContext,
  collection: Collection,
  asked: { readonly center: Point; readonly count: number; readonly maxRadius?: number | null | undefined },
  filterInput?: MarkerFilterInput | null,
): Promise<readonly NearbyEdge[]> {
  const wanted = readWhole('count', asked.count, 1, MOST_NEAREST);
  const center = readPoint('center', asked.center.lng, asked.center.lat);
  const radius = readMeters('maxRadius', asked.maxRadius ?? HALF_AROUND);
  const filter = readFilter(filterInput);
  const limits = { ...context.limits, queryCalls: 2 * context.limits.queryCalls };
  const cursor = { resumeAfter: BEGIN };
  const query = { collection, center, radius, cursor, filter, wanted, budget: Budget.of(limits) };
  const { found, rest } = await walkOutward(context, query);
  if (rest !== undefined && found.length < wanted) {
    throw tooMuch('nearest', limits, 'pass maxRadius, or page through within');
  }
  const cursors = cursorsOf(collection, center, filterInput);
  return found.slice(0, wanted).map((near) => new NearbyEdge(cursors, near));
}

/** Number of Z-order ranges into which a ring is cut before they are joined. */
const FINENESS = 512;
/** Width of the first ring in meters, and growth factor of further ones. */
const FIRST_RING = 1_500;
const GROWTH = 3;

/** Reads markers of a collection in index order, and the current base items of those kept by earlier connections. */
function sourceOf(context: SearchContext, { collection, center, filter, budget }: NearQuery): ScanSource {
  return {
    async read(from, upTo, scanned, accept) {
      const cover = coverShape(ringRelation(center, from.distance, upTo.distance), FINENESS);
      const after = scanned === '' ? undefined : scanned;
      const result = await findMarkers(context, { collection, cover, budget, after, accept, filter });
      return { found: result.found, scanned: result.ended ? null : (result.resumeAfter ?? scanned) };
    },
    loads: () => Infinity,
    identityOf: ({ key }) => key,
    async load(pending) {
      const bases = await Promise.all(pending.map(({ key }) => context.loaders.markers.load({ collection, key })));
      return bases.filter((base) => base !== null).filter((base) => filter?.passes(base) ?? true);
    },
  };
}
