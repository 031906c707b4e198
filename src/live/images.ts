import { isDeepStrictEqual } from 'node:util';

import { CellportError } from '../errors.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Collection } from '../model/collection.js';
import type { MapMarker, Marker } from '../model/marker.js';
import { mapMarkerFromIndex, markerFromBase } from '../store/marker/marker-item.js';
import { itemOfImage } from '../store/request/wire.js';
import type { WireImage } from '../stream/change.js';

/** The attributes that rules test, and those without which an image is no marker. */
const TESTED = ['category', 'm', 'mc', 'properties'];
const NEEDED = ['pk', 'sk', 'lng', 'lat', 'version'];

/** What rules test of the image of a marker before a change; undefined if it is the same in the image after it. */
export function formerImage(old: WireImage | undefined, image: WireImage | undefined): WireImage | undefined {
  if (old === undefined) return undefined;
  if (image !== undefined && TESTED.every((name) => isDeepStrictEqual(old[name], image[name]))) return undefined;
  const kept = [...NEEDED, ...TESTED].filter((name) => old[name] !== undefined);
  return Object.fromEntries(kept.map((name) => [name, old[name]]));
}

const decoded = new WeakMap<WireImage, MapMarker | Marker | null>();

/** The marker in an image, decoded once for all clients; of a source, what maps draw. Null if there is none. */
export function markerIn(keys: Keyspace, image: WireImage | undefined, collection: string): MapMarker | Marker | null {
  const known = image === undefined ? null : decoded.get(image);
  if (image === undefined || known !== undefined) return known ?? null;
  const item = itemOfImage(image);
  const read = item['version'] === undefined ? mapMarkerFromIndex : markerFromBase;
  const marker = read(keys, item, collection) ?? null;
  decoded.set(image, marker);
  return marker;
}

/**
 * Whether the principal's rows have the marker in an image, or had it when it was as old as `updatedAt`. Throws UNAVAILABLE
 * if the image of a source lacks a property that its rules test.
 */
export function hasInRows(
  keys: Keyspace,
  image: WireImage | undefined,
  collection: Collection,
  updatedAt?: string,
): boolean {
  const marker = markerIn(keys, image, collection.key);
  const { rows } = collection.grant ?? {};
  if (marker === null || rows === undefined) return marker !== null;
  if ('incarnation' in marker) return rows.passes(updatedAt === undefined ? marker : { ...marker, updatedAt });
  const verdict = rows.verdict(marker, collection);
  if (verdict !== 'unknown') return verdict === 'pass';
  const message = `your rules test a property that changes of collection ${collection.key} do not show`;
  throw new CellportError('UNAVAILABLE', message, { collection: collection.key });
}
