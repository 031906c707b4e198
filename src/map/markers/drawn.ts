import { LONGEST_Z, encode } from '../../geo/geohash.js';
import { markerId } from '../../keys/ids.js';
import type { MapMarker } from '../../model/marker.js';

/** Caches a value derived from a marker for as long as the marker is in memory: cached markers are drawn repeatedly. */
export function oncePerMarker<T>(make: (marker: MapMarker) => T): (marker: MapMarker) => T {
  const made = new WeakMap<MapMarker, T>();
  return (marker) => {
    const known = made.get(marker);
    if (known !== undefined) return known;
    const value = make(marker);
    made.set(marker, value);
    return value;
  };
}

/** A marker's GraphQL ID. */
export const idOf = oncePerMarker(({ collection, key }) => markerId(collection, key));

/** The geohash under which a marker is indexed. */
export const geohashOf = oncePerMarker(({ position }) => encode(position, LONGEST_Z));
