import { readPoint } from '../geo/bounds.js';
import { encode, LONGEST_Z, readGeohash } from '../geo/geohash.js';
import { collectionId, markerId } from '../keys/ids.js';
import { createKeyspace, type KeyStyle } from '../keys/keyspace.js';
import { readCode, readCollectionKey, readMarkerKey } from '../keys/validate.js';
import type { KeyOptions } from './session.js';

/** An entity whose keys are printed. */
export type Entity =
  | { readonly kind: 'collection'; readonly collection: string }
  | {
      readonly kind: 'marker';
      readonly collection: string;
      readonly key: string;
      readonly lng: number;
      readonly lat: number;
    }
  | { readonly kind: 'cell'; readonly collection: string; readonly geohash: string };

/** The keys of an entity by attribute, with its IDs first. Throws BAD_USER_INPUT for invalid input. */
export function keysOf(entity: Entity, options: KeyOptions, style: KeyStyle): Record<string, string> {
  const keyspace = createKeyspace(style);
  const collection = readCollectionKey('collection', entity.collection);
  const code = options.code === undefined ? null : readCode('--code', options.code);
  if (entity.kind === 'collection') {
    const key = keyspace.collection(collection);
    const claim =
      style === 'compact' && code !== null ? { 'code reservation': keyspace.documentId(keyspace.codeClaim(code)) } : {};
    return { id: collectionId(collection), document: keyspace.documentId(key), ...key, ...claim };
  }
  const scope = keyspace.scope({ key: collection, code });
  if (entity.kind === 'cell') {
    const geohash = entity.geohash === '' ? '' : readGeohash('geohash', entity.geohash);
    const key = keyspace.cell(scope, geohash);
    return { document: keyspace.documentId(key), ...key };
  }
  const markerKey = readMarkerKey('key', entity.key);
  const { lng, lat } = readPoint('position', entity.lng, entity.lat);
  const key = keyspace.marker(scope, markerKey);
  const geohash = encode({ lng, lat }, LONGEST_Z);
  const { prefixLength, writeShards } = options;
  const entry = keyspace.geoEntry({ scope, key: markerKey, geohash, prefixLength, writeShards, geoSlot: 'A' });
  return { id: markerId(collection, markerKey), document: keyspace.documentId(key), geohash, ...key, ...entry };
}
