import { badInput, limitExceeded } from '../errors.js';
import { compareBytes } from '../keys/byte-order.js';
import { readPlace } from '../keys/place.js';
import { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import { REQUEST_LIMITS } from '../model/dynamodb-limits.js';
import { isCounted, withinRows, withoutHidden } from '../model/grant.js';
import type { PlaceCount } from '../model/place.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';
import type { MapContext } from '../read/context.js';
import { Cursors } from '../read/cursor.js';
import { tooMuch } from '../read/find-markers.js';
import { passing } from '../read/passing.js';
import {
  markerConnection,
  readArguments,
  type ConnectionArguments,
  type ConnectionRequest,
  type MarkerConnection,
} from './connection.js';

function readNames(place: readonly string[]): [string, ...string[]] {
  const [outermost, ...inner] = readPlace('place', place);
  if (outermost === undefined) throw badInput('place', place, 'one name or more, outermost first');
  return [outermost, ...inner];
}

/** What is read of a place: the markers found, and the sort key after which there may be more. */
interface Walk {
  readonly found: readonly OrderedMarker[];
  readonly resumeAfter: string | undefined;
}

/** The markers at a place and below it, until enough are found or the budget is spent. */
async function walk(
  context: MapContext,
  collection: Collection,
  { pk, range }: ReturnType<MapContext['keys']['placeRange']>,
  { after, wanted }: Pick<ConnectionRequest, 'after' | 'wanted'>,
  budget: Budget,
): Promise<Walk> {
  const filter = withinRows(collection, undefined);
  const found = new Map<string, OrderedMarker>();
  let resumeAfter = after;
  do {
    const limit = Math.min(wanted, context.limits.itemsPerField) - found.size;
    const read = await context.loaders.places.markers(collection, { pk, range, after: resumeAfter, limit }, budget);
    const { passed, lookups } = await passing(context, collection, filter, read.markers, Infinity);
    budget.debit({ calls: Math.ceil(lookups / REQUEST_LIMITS.batchGet), items: read.markers.length });
    // During a change, the index may have a marker at both its old and its new place.
    for (const { position, marker } of passed) {
      if (!found.has(marker.key)) found.set(marker.key, { position, marker: withoutHidden(collection, marker) });
    }
    resumeAfter = read.next;
  } while (resumeAfter !== undefined && found.size < wanted && budget.calls > 0);
  return { found: [...found.values()], resumeAfter };
}

/**
 * A connection of the markers at a place and below it, in the order of places and keys. Names match as a whole, after
 * Unicode NFC normalization. Throws BAD_USER_INPUT if there are no names, or one is empty.
 */
export async function markersInPlace(
  context: MapContext,
  collection: Collection,
  place: readonly string[],
  input: ConnectionArguments,
): Promise<MarkerConnection> {
  const { keys, limits } = context;
  const names = readNames(place);
  const at = keys.placeRange(keys.scope(collection), names);
  const { range } = at;
  const inRange = (sortKey: string) =>
    keys.parsePlaceSort(sortKey) !== undefined &&
    (range === undefined || (compareBytes(range.from, sortKey) <= 0 && compareBytes(sortKey, range.to) <= 0));
  const cursors = new Cursors(['place', collection.key, names], collection.grant);
  const request = readArguments(limits, cursors, input, inRange);
  const { found, resumeAfter } = await walk(context, collection, at, request, Budget.of(limits));
  return markerConnection(request, found, resumeAfter);
}

const ADVICE = 'page through markersIn instead';

/** The places that have markers in the principal's rows, with the number of these. */
async function countedInRows(
  context: MapContext,
  collection: Collection,
  places: readonly PlaceCount[],
): Promise<PlaceCount[]> {
  const { keys, limits } = context;
  const scope = keys.scope(collection);
  const budget = Budget.of(limits);
  const counted: PlaceCount[] = [];
  for (const one of places) {
    const at = keys.placeRange(scope, readNames(one.place));
    const { found, resumeAfter } = await walk(context, collection, at, { after: undefined, wanted: Infinity }, budget);
    if (resumeAfter !== undefined || budget.calls < 1) throw tooMuch('places', limits, ADVICE);
    if (found.length > 0) counted.push({ ...one, count: found.length });
  }
  return counted;
}

/**
 * The names of the next level below a place, in byte order, with the number of markers at or below each; the outermost
 * names if `under` is empty. Throws BAD_USER_INPUT if a name is empty, and LIMIT_EXCEEDED if a level has more names
 * than one list may have; it never returns only some of them.
 */
export async function placesUnder(
  context: MapContext,
  collection: Collection,
  under: readonly string[],
): Promise<readonly PlaceCount[]> {
  const { loaders, limits } = context;
  const { maxFirst, itemsPerField } = limits;
  const all = await loaders.places.counts(collection, readPlace('under', under), itemsPerField);
  if (!all) throw limitExceeded('places', 'more than can be read at once', `${itemsPerField} items`, ADVICE);
  const found = isCounted(collection) ? all : await countedInRows(context, collection, all);
  if (found.length > maxFirst) throw limitExceeded('places', `${found.length} names`, `${maxFirst} names`, ADVICE);
  return found.sort((a, b) => compareBytes(a.name, b.name));
}
