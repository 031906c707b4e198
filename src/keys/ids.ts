import { MARKER } from './declarations.js';
import { defineEntity } from './entity.js';
import { compileTemplate } from './template.js';

const collections = compileTemplate({ source: 'collection::{key}', role: 'partition', owner: 'collection' });
// A marker's id is its readable partition key.
const markers = defineEntity(MARKER, 'readable').pk;
// All zones of a collection share their partition key, so that it takes a template of its own.
const zones = compileTemplate({ source: 'zone::{collection}::{key}', role: 'partition', owner: 'zone' });

/** What a GraphQL id names. */
export type NodeId =
  | { readonly type: 'collection'; readonly key: string }
  | { readonly type: 'marker'; readonly collection: string; readonly key: string }
  | { readonly type: 'zone'; readonly collection: string; readonly key: string };

/** The GraphQL id of a collection, the same whatever the style of the table's keys. */
export function collectionId(key: string): string {
  return collections.format({ key });
}

/** The GraphQL id of a marker, `marker::{collection}::{key}`, the same whatever the style of the table's keys. */
export function markerId(collection: string, key: string): string {
  return markers.format({ scope: collection, key });
}

/** The GraphQL id of a zone, `zone::{collection}::{key}`, the same whatever the style of the table's keys. */
export function zoneId(collection: string, key: string): string {
  return zones.format({ collection, key });
}

/** What an id names; undefined for a text that is no id of ours, other spellings of one included. */
export function parseId(id: string): NodeId | undefined {
  const collection = collections.parse(id);
  if (collection) return { type: 'collection', ...collection };
  const marker = markers.parse(id);
  if (marker) return { type: 'marker', collection: marker.scope, key: marker.key };
  const zone = zones.parse(id);
  return zone && { type: 'zone', ...zone };
}
