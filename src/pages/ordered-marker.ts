import { compareBytes } from '../keys/byte-order.js';
import { escapePart, SEPARATOR } from '../keys/escape.js';
import type { MapMarker } from '../model/marker.js';
import { firstIndex } from './bisect.js';

/** A marker and its position in a list. */
export interface OrderedMarker {
  /** Compared by bytes. In the order of its collection: its geohash of length 10, `::` and its key, as in sort keys. */
  readonly position: string;
  readonly marker: MapMarker;
}

/** Number of markers that can be decoded for the cost of one index item. */
export const MARKERS_AN_ITEM = 5;

/** Its position is written on demand: answers need the markers, and few of their positions. */
class Ordered implements OrderedMarker {
  readonly marker: MapMarker;
  #position: string | undefined;

  constructor(marker: MapMarker) {
    this.marker = marker;
  }

  get position(): string {
    this.#position ??= this.marker.geohash + SEPARATOR + escapePart(this.marker.key, 'sort');
    return this.#position;
  }
}

/** A marker in the order of its collection. */
export function orderedMarker(marker: MapMarker): OrderedMarker {
  return new Ordered(marker);
}

/** The index of the first entry at or after a position; the number of entries if there is none. */
export function firstFrom(entries: readonly OrderedMarker[], position: string): number {
  return firstIndex(entries.length, (index) => compareBytes(entries[index]?.position ?? '', position) >= 0);
}
