import type { Limits } from '../../model/limits.js';
import { READS_OF_A_WRITE } from '../../model/read-cost.js';

type Arguments = Readonly<Record<string, unknown>>;
type Bound = (args: Arguments, limits: Limits) => number;

/** A KB of a geo index in read units: what filters discard is read from there. */
const INDEXED = 1 / 8;
/** A marker, its entries in three indexes, and the ones that a move leaves; or the same in a transaction. */
const WRITES_OF_A_MARKER = 8;
/** A zone with its geometry and cover, in a transaction. */
const WRITES_OF_A_ZONE = 200;

const units =
  (bound: number): Bound =>
  () =>
    bound;
const writes = (count: number) => units(READS_OF_A_WRITE * count);

/** An item of up to 4 KB, and its collection. */
const ONE = units(2);

/** The Query calls of a field, which cost half a unit at least, and an item of up to 4 KB for each object in its answer. */
const reading =
  (name?: string): Bound =>
  (args, { queryCalls, maxFirst, itemsPerField }) => {
    const count = name === undefined ? 0 : Math.min(Number(args[name] ?? 0), maxFirst);
    const discarded = (args['filter'] ?? undefined) === undefined ? 0 : itemsPerField * INDEXED;
    return queryCalls / 2 + Math.max(0, count) + discarded;
  };

/** So much for each entry of a list. */
const each =
  (name: string, bound: number): Bound =>
  (args) => {
    const list = args[name];
    return bound * (Array.isArray(list) ? list.length : 1);
  };

/**
 * Bounds of the read units that fields take, with items of ordinary size; the rest is taken from the budget afterwards.
 * What is missing reads nothing, or what others have read.
 */
export const UNIT_BOUNDS: Readonly<Record<string, Bound>> = {
  'Query.node': ONE,
  'Query.nodes': (args, limits) => 1 + each('ids', 1)(args, limits),
  'Query._entities': (args, limits) => 1 + each('representations', 1)(args, limits),
  'Query.collection': ONE,
  'Query.collections': reading('first'),
  'Query.marker': ONE,
  'Query.markerByGlobalId': ONE,
  'Query.search': (args, { maxFirst }) => Math.min(Number(args['first'] ?? 0), maxFirst),
  'Query.cell': units(2),
  'Collection.count': reading(),
  'Collection.bounds': reading(),
  'Collection.marker': ONE,
  'Collection.markers': reading('first'),
  'Collection.markersIn': reading('first'),
  'Collection.places': reading(),
  'Collection.within': reading('first'),
  'Collection.nearest': reading('count'),
  'Collection.inside': reading('first'),
  'Collection.zone': ONE,
  'Collection.zones': reading('first'),
  'Collection.zonesAt': reading(),
  'Zone.geometry': (_args, { inlineGeometryBytes }) => Math.max(8, inlineGeometryBytes / 4_096),
  'Zone.markers': reading('first'),
  'Zone.count': reading(),
  'Marker.cell': units(2),
  'Marker.readings': (args) => 1 + Number(args['last'] ?? 0) * INDEXED,
  'Marker.readingSummaries': (args, { queryCalls }) => queryCalls + Number(args['first'] ?? 0) * INDEXED,
  'Cell.parent': units(1),
  'Cell.children': units(1),
  'Cell.markers': reading('first'),
  'Viewport.markers': reading('first'),
  'Viewport.cells': reading(),
  'Viewport.clusters': reading(),
  'Viewport.count': reading(),
  'Viewport.auto': reading('limit'),
  'Viewport.features': reading('limit'),
  'Viewport.zones': reading('first'),
  'Viewport.plan': reading(),
  'Mutation.createCollection': writes(WRITES_OF_A_MARKER),
  'Mutation.updateCollection': writes(WRITES_OF_A_MARKER),
  'Mutation.deleteCollection': writes(WRITES_OF_A_MARKER),
  'Mutation.createMarker': writes(WRITES_OF_A_MARKER),
  'Mutation.createMarkers': each('markers', READS_OF_A_WRITE * WRITES_OF_A_MARKER),
  'Mutation.upsertMarkers': each('markers', READS_OF_A_WRITE * WRITES_OF_A_MARKER + 1),
  'Mutation.updateMarker': writes(WRITES_OF_A_MARKER),
  'Mutation.deleteMarker': writes(2 * WRITES_OF_A_MARKER),
  'Mutation.deleteMarkers': each('ids', 2 * READS_OF_A_WRITE * WRITES_OF_A_MARKER),
  'Mutation.recordReadings': each('readings', 2 * READS_OF_A_WRITE),
  'Mutation.createZone': writes(WRITES_OF_A_ZONE),
  'Mutation.updateZone': writes(WRITES_OF_A_ZONE),
  'Mutation.deleteZone': writes(WRITES_OF_A_ZONE),
};
