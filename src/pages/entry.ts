import { compareBytes } from '../keys/byte-order.js';
import { SEPARATOR, escapePart } from '../keys/escape.js';
import type { MapMarker } from '../model/marker.js';
import { firstIndex } from './bisect.js';

/** A marker in a page, and its position in the order of its collection. */
export interface PageEntry {
  /** Its geohash of length 10, `::` and its key, as in sort keys. Positions are compared by their bytes. */
  readonly position: string;
  readonly marker: MapMarker;
}

/** Creates the entry of a marker. */
export function pageEntry(marker: MapMarker): PageEntry {
  return { position: marker.geohash + SEPARATOR + escapePart(marker.key, 'sort'), marker };
}

/** The index of the first entry at or after a position; the number of entries if there is none. */
export function firstFrom(entries: readonly PageEntry[], position: string): number {
  return firstIndex(entries.length, (index) => compareBytes(entries[index]?.position ?? '', position) >= 0);
}
