import { MARKER } from './declarations.js';
import { defineEntity } from './entity.js';
import { compileTemplate } from './template.js';

const collections = compileTemplate({ source: 'collection::{key}', role: 'partition', owner: 'collection' });
// A marker's ID is its readable partition key.
const markers = defineEntity(MARKER, 'readable').pk;
// Zones have their own template, because all zones of a collection share one partition key.
const zones = compileTemplate({ source: 'zone::{collection}::{key}', role: 'partition', owner: 'zone' });

/** The object identified by a GraphQL ID. */
export type NodeId =
  | { readonly type: 'collection'; readonly key: string }
  | { readonly type: 'marker'; readonly collection: string; readonly key: string }
  | { readonly type: 'zone'; readonly collection: string; readonly key: string };

/** The GraphQL ID of a collection, the same in both key styles. */
export function collectionId(key: string): string {
  return collections.format({ key });
}

/** The GraphQL ID of a marker, `marker::{collection}::{key}`, the same in both key styles. */
export function markerId(collection: string, key: string): string {
  return markers.format({ scope: collection, key });
}

/** The GraphQL ID of a zone, `zone::{collection}::{key}`, the same in both key styles. */
export function zoneId(collection: string, key: string): string {
  return zones.format({ collection, key });
}

/** The object identified by an ID; undefined for any other text, including other encodings of an ID. */
export function parseId(id: string): NodeId | undefined {
  const collection = collections.parse(id);
  if (collection) return { type: 'collection', ...collection };
  const marker = markers.parse(id);
  if (marker) return { type: 'marker', collection: marker.scope, key: marker.key };
  const zone = zones.parse(id);
  return zone && { type: 'zone', ...zone };
}
