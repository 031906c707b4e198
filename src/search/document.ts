import type { Key, Keyspace } from '../keys/keyspace.js';
import type { Marker, Properties, Zone } from '../model/marker.js';
import { collectionFromItem } from '../store/collection/collection-item.js';
import type { Item } from '../store/database.js';
import { markerFromBase } from '../store/marker/marker-item.js';
import { itemOfImage } from '../store/request/wire.js';
import { zoneFromItem } from '../store/zone/zone-item.js';
import type { StreamRecord, WireImage } from '../stream/change.js';
import type { SearchChange, SearchDocument } from './engine.js';
import { wordsOf } from './words.js';

/** The property that orders the markers and zones of each collection, by scope. */
export type RankBy = ReadonlyMap<string, string | null>;

/** Maximum number of characters of properties that are indexed: an item may have up to 400 KB. */
const MOST_CHARACTERS = 10_000;
/** The nesting depth of DynamoDB values. */
const DEEPEST = 32;

/** The texts and numbers in a value, in order. */
function* textsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number' || typeof value === 'bigint') yield String(value);
  else if (typeof value === 'object' && value !== null && depth < DEEPEST && !ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) yield* textsIn(part, depth + 1);
  }
}

function restOf(parts: readonly unknown[]): string {
  let rest = '';
  for (const text of textsIn(parts)) {
    rest += `${text.slice(0, MOST_CHARACTERS)}\n`;
    if (rest.length > MOST_CHARACTERS) break;
  }
  return rest.slice(0, MOST_CHARACTERS);
}

/** Whether a text has all the words of a search, the last of which may be incomplete. */
export function hasWords(words: readonly string[], text: string): boolean {
  const own = new Set(wordsOf(text));
  const last = words.at(-1) ?? '';
  return words.slice(0, -1).every((word) => own.has(word)) && [...own].some((word) => word.startsWith(last));
}

/** The text of a marker or zone with these properties, apart from its name. */
export const textBesides = (found: Marker | Zone, properties: Properties): string =>
  restOf('place' in found ? [found.category, found.place, properties] : [properties]);

/** The search document for an item; undefined for an invalid item, or one that is not a marker, zone or collection. */
export function documentOf(keys: Keyspace, item: Item, rankBy: RankBy): SearchDocument | undefined {
  const key = keyOf(item);
  const scope = scopeOf(keys, key);
  if (scope === undefined) return undefined;
  const collection = collectionFromItem(keys, item);
  if (collection) {
    const { name, description, createdAt, version } = collection;
    const own = { name, rest: restOf([collection.key, description]), bounds: undefined, rank: undefined };
    return { key, scope: keys.scope(collection), incarnation: createdAt, version, ...own };
  }
  const marker = markerFromBase(keys, item, scope);
  const found = marker ?? zoneFromItem(keys, item, scope);
  if (found === undefined) return undefined;
  const { incarnation, version, name } = found;
  // Of the markers of a source, there are only those that maps draw.
  const properties = { ...marker?.mapProperties, ...found.properties };
  const { lng, lat } = marker?.position ?? { lng: 0, lat: 0 };
  const rank = properties[rankBy.get(scope) ?? ''];
  return {
    key,
    scope,
    incarnation,
    version,
    name: name ?? '',
    rest: textBesides(found, properties),
    ...('geometry' in found ? { geometry: found.geometry } : {}),
    bounds: 'bounds' in found ? found.bounds : { west: lng, south: lat, east: lng, north: lat },
    rank: typeof rank === 'number' || typeof rank === 'bigint' ? Number(rank) : undefined,
  };
}

const keyOf = ({ pk, sk }: Item): Key => ({ pk: String(pk), sk: String(sk) });

/** The scope of a marker's or zone's collection; the key of a collection; undefined for other items. */
export function scopeOf(keys: Keyspace, key: Key): string | undefined {
  return keys.parseMarker(key)?.scope ?? keys.parseZone(key)?.scope ?? keys.parseCollection(key);
}

const textAttribute = (image: WireImage | undefined, name: string) => {
  const text = image?.[name]?.['S'];
  return typeof text === 'string' ? text : '';
};

/** The change to the index for a record; undefined for items that are not searched. */
export function searchChange(keys: Keyspace, record: StreamRecord, rankBy: RankBy): SearchChange | undefined {
  const key = { pk: textAttribute(record.keys, 'pk'), sk: textAttribute(record.keys, 'sk') };
  if (scopeOf(keys, key) === undefined) return undefined;
  const document = record.after && documentOf(keys, itemOfImage(record.after), rankBy);
  if (document) return { type: 'put', document };
  // An item that is no longer valid, or a collection that is being emptied, must not be found either.
  const image = record.before ?? record.after;
  const incarnation =
    keys.parseCollection(key) === undefined ? textAttribute(image, 'life') : textAttribute(image, 'createdAt');
  return { type: 'remove', key, incarnation };
}
