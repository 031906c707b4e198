import type { Bounds } from '../../geo/bounds.js';

/** Cost of one client request, summed over its commands by `send`. */
export interface Meter {
  /** Query and Scan calls, one per response. */
  queries: number;
  /** Items requested by key. */
  getItems: number;
  /** Items written, deleted or refused by a condition. */
  writes: number;
  readUnits: number;
  writeUnits: number;
  /** Items that Query and Scan calls read, before filters. */
  itemsScanned: number;
  /** Items returned, by key or by range. */
  itemsReturned: number;
  /** Cell blocks and ranges of markers served from a cache. */
  cacheHits: number;
  /** What markers were read from; null if none were read. */
  markersFrom: MarkersFrom | null;
  /** How far pages of collections without a geo index may be behind, in milliseconds; null if unknown, or none were read. */
  behindMs: number | null;
}

export type MarkersFrom = 'PAGES' | 'INDEX' | 'BOTH';

/** Records what markers are read from, and by how many milliseconds that may be behind if there is nothing better. */
export function noteSource(meter: Meter, from: 'PAGES' | 'INDEX', behindMs?: number): void {
  meter.markersFrom = meter.markersFrom === null || meter.markersFrom === from ? from : 'BOTH';
  if (behindMs !== undefined) meter.behindMs = Math.max(meter.behindMs ?? 0, Math.round(behindMs));
}

/** A meter at zero. */
export function newMeter(): Meter {
  return {
    queries: 0,
    getItems: 0,
    writes: 0,
    readUnits: 0,
    writeUnits: 0,
    itemsScanned: 0,
    itemsReturned: 0,
    cacheHits: 0,
    markersFrom: null,
    behindMs: null,
  };
}

/** A range of one partition that a response is based on, read by one Query call or found in a cache. */
export interface RangeRead {
  /** The index, or for a table itself `entities`, `cells`, `pages` or `derived` (the rest of the derived table). */
  readonly index: string;
  readonly pk: string;
  /** Bounds of the sort keys, both included; null if the range is open. For a single response, the part that it covered. */
  readonly from: string | null;
  readonly to: string | null;
  /** Number of items read, before filters; for a cached range, the number of its items. */
  readonly items: number;
  readonly readUnits: number;
  readonly cached: boolean;
}

/** A page of markers that a response is based on. */
export interface PageRead {
  readonly pk: string;
  /** Its begin and exclusive end in the order of its partition; null for the partition's end. */
  readonly begin: string;
  readonly end: string | null;
  readonly markers: number;
  /** The bounding box of its markers, in degrees; null if it has none. */
  readonly bounds: Bounds | null;
}
