import { badInput, limitExceeded } from '../errors.js';
import { compareBytes } from '../keys/byte-order.js';
import { readPlace } from '../keys/place.js';
import { Budget } from '../loaders/budget.js';
import type { Collection } from '../model/collection.js';
import type { PlaceCount } from '../model/place.js';
import type { OrderedMarker } from '../pages/ordered-marker.js';
import type { MapContext } from '../read/context.js';
import { markerConnection, readArguments, type ConnectionArguments, type MarkerConnection } from './connection.js';

function readNames(place: readonly string[]): [string, ...string[]] {
  const [outermost, ...inner] = readPlace('place', place);
  if (outermost === undefined) throw badInput('place', place, 'one name or more, outermost first');
  return [outermost, ...inner];
}

/**
 * A connection of the markers at a place and below it, in the order of places and keys. Names match as a whole, after
 * Unicode NFC normalization. Throws BAD_USER_INPUT if there are no names, or one is empty.
 */
export async function markersInPlace(
  { loaders, keys, limits }: MapContext,
  collection: Collection,
  place: readonly string[],
  input: ConnectionArguments,
): Promise<MarkerConnection> {
  const names = readNames(place);
  const scope = keys.scope(collection);
  const { pk, range } = keys.placeRange(scope, names);
  const inRange = (sortKey: string) =>
    keys.parsePlaceSort(sortKey) !== undefined &&
    (range === undefined || (compareBytes(range.from, sortKey) <= 0 && compareBytes(sortKey, range.to) <= 0));
  const request = readArguments(limits, ['place', collection.key, names], input, inRange);
  const budget = Budget.of(limits);

  const found = new Map<string, OrderedMarker>();
  let resumeAfter = request.after;
  do {
    const limit = request.wanted - found.size;
    const read = await loaders.places.markers(collection, { pk, range, after: resumeAfter, limit }, budget);
    // During a change, the index may have a marker at both its old and its new place.
    for (const one of read.markers) if (!found.has(one.marker.key)) found.set(one.marker.key, one);
    resumeAfter = read.next;
  } while (resumeAfter !== undefined && found.size < request.wanted && budget.calls > 0);
  return markerConnection(request, [...found.values()], resumeAfter);
}

const ADVICE = 'page through markersIn instead';

/**
 * The names of the next level below a place, in byte order, with the number of markers at or below each; the outermost
 * names if `under` is empty. Throws BAD_USER_INPUT if a name is empty, and LIMIT_EXCEEDED if a level has more names
 * than one list may have; it never returns only some of them.
 */
export async function placesUnder(
  { loaders, limits }: MapContext,
  collection: Collection,
  under: readonly string[],
): Promise<readonly PlaceCount[]> {
  const { maxFirst, itemsPerField } = limits;
  const found = await loaders.places.counts(collection, readPlace('under', under), itemsPerField);
  if (!found) throw limitExceeded('places', 'more than can be read at once', `${itemsPerField} items`, ADVICE);
  if (found.length > maxFirst) throw limitExceeded('places', `${found.length} names`, `${maxFirst} names`, ADVICE);
  return found.sort((a, b) => compareBytes(a.name, b.name));
}
