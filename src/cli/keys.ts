import { LONGEST_Z, encode, readGeohash } from '../geo/geohash.js';
import { readPoint } from '../geo/point.js';
import { type KeyStyle, createKeyspace } from '../keys/keyspace.js';
import { collectionId, markerId } from '../keys/ids.js';
import { readCode, readCollectionKey, readMarkerKey } from '../keys/validate.js';
import type { KeyOptions } from './program.js';

type Asked =
  | { readonly kind: 'collection'; readonly collection: string }
  | {
      readonly kind: 'marker';
      readonly collection: string;
      readonly key: string;
      readonly lng: number;
      readonly lat: number;
    }
  | { readonly kind: 'cell'; readonly collection: string; readonly geohash: string };

/** The keys of an entity by the name of their attribute, its ids first. Throws BAD_USER_INPUT naming what is wrong. */
export function keysOf(
  asked: Asked,
  options: Omit<KeyOptions, 'json' | 'style'>,
  style: KeyStyle,
): Record<string, string> {
  const keyspace = createKeyspace(style);
  const collection = readCollectionKey('collection', asked.collection);
  const code = options.code === undefined ? null : readCode('--code', options.code);
  if (asked.kind === 'collection') {
    const key = keyspace.collection(collection);
    const claim =
      style === 'compact' && code !== null
        ? { 'claim of the code': keyspace.documentId(keyspace.codeClaim(code)) }
        : {};
    return { id: collectionId(collection), document: keyspace.documentId(key), ...key, ...claim };
  }
  const scope = keyspace.scope({ key: collection, code });
  if (asked.kind === 'cell') {
    const geohash = asked.geohash === '' ? '' : readGeohash('geohash', asked.geohash);
    const key = keyspace.cell(scope, geohash);
    return { document: keyspace.documentId(key), ...key };
  }
  const markerKey = readMarkerKey('key', asked.key);
  const { lng, lat } = readPoint('position', asked.lng, asked.lat);
  const key = keyspace.marker(scope, markerKey);
  const geohash = encode({ lng, lat }, LONGEST_Z);
  const { prefixLength, writeShards } = options;
  const entry = keyspace.geoEntry({ scope, key: markerKey, geohash, prefixLength, writeShards, geoSlot: 'A' });
  return { id: markerId(collection, markerKey), document: keyspace.documentId(key), geohash, ...key, ...entry };
}

/** `keys`: prints the keys of an entity, an attribute a line. */
export function printKeys(asked: Asked, options: KeyOptions, style: KeyStyle): void {
  const keys = keysOf(asked, options, style);
  if (options.json === true) {
    console.log(JSON.stringify(keys, null, 2));
    return;
  }
  const width = Math.max(...Object.keys(keys).map((name) => name.length));
  for (const [name, value] of Object.entries(keys)) console.log(`${name.padEnd(width)}  ${value}`);
}
