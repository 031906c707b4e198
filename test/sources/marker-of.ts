import type { Item, Mapping } from '../../src/sources/mapping.js';
import { markersOf, type MappedItem } from '../../src/sources/marker.js';

/** What an item is to a mapping without `each`. */
export function markerOf(mapping: Mapping, item: Item, now: number): MappedItem {
  const [found, ...more] = markersOf(mapping, item, now);
  if (found === undefined || more.length > 0) throw new Error('not one marker of an item');
  return found;
}
