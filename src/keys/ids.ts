import { compileTemplate } from './template.js';

const COLLECTION = compileTemplate<{ readonly key: string }>({
  source: 'collection::{key}',
  role: 'partition',
  owner: 'collection',
});
const MARKER = compileTemplate<{ readonly collection: string; readonly key: string }>({
  source: 'marker::{collection}::{key}',
  role: 'partition',
  owner: 'marker',
});

/** What a GraphQL id names. */
export type NodeId =
  | { readonly type: 'collection'; readonly key: string }
  | { readonly type: 'marker'; readonly collection: string; readonly key: string };

/** The GraphQL id of a collection, the same whatever the style of the table's keys. */
export function collectionId(key: string): string {
  return COLLECTION.format({ key });
}

/** The GraphQL id of a marker, `marker::{collection}::{key}`, the same whatever the style of the table's keys. */
export function markerId(collection: string, key: string): string {
  return MARKER.format({ collection, key });
}

/** What an id names; undefined for a text that is no id of ours, other spellings of one included. */
export function parseId(id: string): NodeId | undefined {
  const collection = COLLECTION.parse(id);
  if (collection) return { type: 'collection', ...collection };
  const marker = MARKER.parse(id);
  return marker && { type: 'marker', ...marker };
}
