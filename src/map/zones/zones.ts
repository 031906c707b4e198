import { ifRefused, limitExceeded } from '../../errors.js';
import { canonicalLng, readPoint, type Area, type Bounds, type Point } from '../../geo/bounds.js';
import { coverArea, fromZ } from '../../geo/geohash.js';
import type { Shape } from '../../geo/polygon.js';
import { COVER_LENGTHS, coversOfPoint } from '../../geo/zone-cover.js';
import { boundsMeet, relationToBox, shapeIsArea, shapeMeets } from '../../geo/zone-geometry.js';
import { compareBytes } from '../../keys/byte-order.js';
import { CELL_SUFFIX_LENGTH } from '../../keys/declarations.js';
import type { PartitionRange } from '../../keys/keyspace.js';
import type { Collection } from '../../model/collection.js';
import type { MapMarker, Zone } from '../../model/marker.js';
import { byPartition, joinPieces } from '../../plan/join.js';
import { requireCollection, type MapContext } from '../../read/context.js';
import { Cursors } from '../../read/cursor.js';
import type { MarkerFilterInput } from '../../read/filter.js';
import { countInRegion } from '../cells/count.js';
import {
  connectionOf,
  Edge,
  readArguments,
  readConnection,
  type Connection,
  type ConnectionArguments,
  type ConnectionRequest,
  type MarkerConnection,
} from '../connection.js';
import type { Viewport } from '../viewport.js';

/** Zones in key order. */
export type ZoneConnection = Connection<Edge<Zone>>;

/** Query calls, of up to 1 MB each, per connection that reads zones by key. */
const MOST_CALLS = 8;
/** Number of zones tested at a time; some may turn out to be outside. */
const BATCH = 100;
/**
 * Maximum number of Query calls for the covers of each of the two smaller lengths; a larger area is searched by reading
 * zones by key.
 */
const MOST_RANGES = 16;
/** Number of geohashes of length 1. */
const CELLS = 32;

/** The zones found for a connection, and where the rest starts, if there is any. */
interface Found {
  readonly zones: readonly Zone[];
  /** The key after which the rest starts; undefined if nothing is left. */
  readonly rest: string | undefined;
}

type Accept = (zone: Zone) => Promise<boolean>;

/** Reads zones by key from the base items, and tests each. */
async function walkKeys(
  { loaders }: MapContext,
  collection: Collection,
  { after, wanted }: ConnectionRequest,
  accept?: Accept,
): Promise<Found> {
  const zones: Zone[] = [];
  let rest = after;
  for (let calls = 0; calls < MOST_CALLS && zones.length < wanted; calls++) {
    const limit = accept ? Math.max(BATCH, wanted) : wanted - zones.length;
    const read = await loaders.zones.inOrder(collection, { after: rest, limit });
    zones.push(...(accept ? await acceptedZones(read.zones, accept) : read.zones));
    rest = read.next;
    if (rest === undefined) break;
  }
  return { zones, rest };
}

/** The ranges of covers of one length that overlap an area; undefined if there are too many. */
function rangesOf({ keys }: MapContext, scope: string, area: Area, length: number): PartitionRange[] | undefined {
  const size = 32 ** Math.min(CELL_SUFFIX_LENGTH, length);
  const ranges: PartitionRange[] = [];
  for (const { pieces } of byPartition(coverArea(area, length, MOST_RANGES / 2), size)) {
    for (const { from, to } of pieces) ranges.push(keys.zoneRange(scope, fromZ(from, length), fromZ(to - 1, length)));
    if (ranges.length > MOST_RANGES) return undefined;
  }
  return ranges;
}

/** The ranges of the largest covers that overlap an area: each is named after the western one of two cells. */
function pairsIn({ keys }: MapContext, scope: string, area: Area): PartitionRange[] {
  const pairs = coverArea(area, 1, CELLS).map(({ from, to }) => ({ from: from - (from % 2), to: to + (to % 2) }));
  const joined = joinPieces(pairs, CELLS, { heavy: 1 });
  return joined.map(({ from, to }) => keys.zoneRange(scope, fromZ(from, 1), fromZ(to - 2, 1)));
}

/** The ranges of all covers that overlap an area; undefined if there are too many. */
function rangesIn(context: MapContext, scope: string, area: Area): PartitionRange[] | undefined {
  const [, ...lengths] = COVER_LENGTHS;
  const found = lengths.map((length) => rangesOf(context, scope, area, length));
  const all = [pairsIn(context, scope, area), ...found];
  return all.includes(undefined) ? undefined : all.flatMap((ranges) => ranges ?? []);
}

/** Reads zones by key from their covers in an area; undefined if there are too many to read at once. */
async function readCovers(
  context: MapContext,
  collection: Collection,
  area: Area,
  { after, wanted }: ConnectionRequest,
  accept: Accept,
): Promise<Found | undefined> {
  const { loaders, keys, limits } = context;
  const ranges = rangesIn(context, keys.scope(collection), area);
  if (!ranges) return undefined;
  const inArea = await keysOfCovers(context, ranges, (box) => boundsMeet(box, area) !== false);
  if (!inArea || inArea.length > limits.itemsPerField) return undefined;
  const left = inArea.filter((key) => after === undefined || compareBytes(key, after) > 0);
  const zones: Zone[] = [];
  let looked = 0;
  while (zones.length < wanted && looked < left.length) {
    const batch = left.slice(looked, looked + Math.max(BATCH, wanted - zones.length));
    looked += batch.length;
    zones.push(...(await acceptedZones(await loaders.zones.load(collection, batch), accept)));
  }
  return { zones, rest: looked < left.length ? left[looked - 1] : undefined };
}

function zoneConnection(request: ConnectionRequest, { zones, rest }: Found): ZoneConnection {
  const edges = zones.map((zone) => new Edge(zone, () => request.cursors.write(zone.key)));
  return connectionOf(request, edges, rest);
}

const isKey = (text: string) => text !== '';

/** A connection of all zones of a collection. */
export async function collectionZones(
  context: MapContext,
  collection: Collection,
  input: ConnectionArguments,
): Promise<ZoneConnection> {
  const request = readArguments(context.limits, new Cursors(['zones', collection.key]), input, isKey);
  return zoneConnection(request, await walkKeys(context, collection, request));
}

/**
 * A connection of the zones that intersect a viewport. A small viewport is searched by its covers, a large one by
 * reading all zones by key; both in the same order, so that each zone appears once over all connections.
 */
export async function viewportZones(
  context: MapContext,
  { area }: Viewport,
  collectionKey: string,
  input: ConnectionArguments,
): Promise<ZoneConnection> {
  const collection = await requireCollection(context, collectionKey);
  const cursors = new Cursors(['viewport zones', area.bounds, collection.key]);
  const request = readArguments(context.limits, cursors, input, isKey);
  const accept = (zone: Zone) => isZoneIn(context, zone, area);
  const found =
    (await readCovers(context, collection, area, request, accept)) ??
    (await walkKeys(context, collection, request, accept));
  return zoneConnection(request, found);
}

const ADVICE = 'this position has more zones smaller than 5 km than can be read at once';

const boxContains = ({ west, south, east, north }: Bounds, { lng, lat }: Point) =>
  west <= lng && lng <= east && south <= lat && lat <= north;

/**
 * The keys, in order, of the zones with a cover in these ranges whose box is accepted; undefined if a range has more
 * covers than can be read at once.
 */
export async function keysOfCovers(
  { loaders, limits }: MapContext,
  ranges: readonly PartitionRange[],
  accept: (box: Bounds) => boolean,
): Promise<string[] | undefined> {
  const lists = await Promise.all(ranges.map((range) => loaders.zones.entries(range, limits.itemsPerField)));
  if (!lists.every((entries) => entries !== undefined)) return undefined;
  const accepted = lists.flat().filter(({ box }) => accept(box));
  return [...new Set(accepted.map(({ key }) => key))].sort(compareBytes);
}

/** The existing zones that are accepted, tested concurrently, because large geometries are in an object store. */
export async function acceptedZones(
  zones: readonly (Zone | null)[],
  accept: (zone: Zone) => Promise<boolean>,
): Promise<Zone[]> {
  const existing = zones.filter((zone) => zone !== null);
  const verdicts = await Promise.all(existing.map(accept));
  return existing.filter((_, index) => verdicts[index]);
}

async function shapeOf({ loaders, turn }: MapContext, zone: Zone): Promise<Shape> {
  const shape = await (await loaders.zones.geometry(zone)).shape;
  await turn();
  return shape;
}

/**
 * The zones of a collection that contain a position, edges included, in key order. Takes at most three Query calls (one
 * more for each MB of covers in one cell), one batch of the zones whose bounding boxes contain the position, and an
 * exact test. A line contains only positions on it. Throws BAD_USER_INPUT naming the invalid coordinate, and
 * UNAVAILABLE if the geometry of a candidate zone cannot be read.
 */
export async function zonesAt(context: MapContext, collection: Collection, asked: Point): Promise<readonly Zone[]> {
  const { loaders, keys, limits } = context;
  const { lng, lat } = readPoint('point', asked.lng, asked.lat);
  const point = { lng: canonicalLng(lng), lat };
  const scope = keys.scope(collection);
  const ranges = coversOfPoint(point).map((cell) => keys.zoneRange(scope, cell, cell));
  const near = await keysOfCovers(context, ranges, (box) => boxContains(box, point));
  if (!near) throw limitExceeded('zonesAt', 'more than can be read at once', `${limits.itemsPerField} zones`, ADVICE);
  const zones = await loaders.zones.load(collection, near);
  return acceptedZones(zones, async (zone) => (await shapeOf(context, zone)).contains(point));
}

/**
 * Whether a zone intersects an area. Its geometry is read only if its bounding box is partly inside the area; if that
 * fails, the zone is assumed to intersect it, and its field `geometry` reports the failure.
 */
export async function isZoneIn(context: MapContext, zone: Zone, area: Area): Promise<boolean> {
  const meets = boundsMeet(zone.bounds, area);
  if (meets !== undefined) return meets;
  const shape = shapeOf(context, zone).then((found) => shapeMeets(found, area));
  return shape.catch(ifRefused(() => true, 'UNAVAILABLE'));
}

/**
 * A connection of the collection's markers inside a zone, edges included, that match the filter, in geohash order. A
 * line has none. Throws UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneMarkers(
  context: MapContext,
  zone: Zone,
  collectionKey: string,
  input: ConnectionArguments,
  filter?: MarkerFilterInput | null,
): Promise<MarkerConnection> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  const shape = await loaded.shape;
  const of = ['zone', zone.collection, zone.key, zone.geometry.sha256];
  const cover = shapeIsArea(loaded.geometry) ? await loaded.cover : [];
  const accept = ({ position }: MapMarker) => shape.contains(position);
  return readConnection(context, { collection, of, cover, accept, filter }, input);
}

/**
 * The number of a collection's markers inside a zone, edges included; 0 for a line. Exact once the stream has been
 * read. Throws LIMIT_EXCEEDED, and UNAVAILABLE if the zone's geometry cannot be read.
 */
export async function zoneCount(context: MapContext, zone: Zone, collectionKey: string): Promise<number> {
  const collection = await requireCollection(context, collectionKey);
  const loaded = await context.loaders.zones.geometry(zone);
  if (!shapeIsArea(loaded.geometry)) return 0;
  const [shape, cover] = [await loaded.shape, await loaded.cover];
  const relationTo = (box: Bounds) => relationToBox(shape, box);
  const region = { area: shape.area, relationTo, contains: (point: Point) => shape.contains(point), cover };
  return countInRegion(context, collection, region, 'count');
}
