import type { Traced } from '../../tracing.js';
import type { PageRead, RangeRead } from './read-log.js';

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

/** Passed along with every command of one piece of work: where its cost is counted, and when to stop. */
export interface Call {
  readonly meter: Meter;
  readonly signal?: AbortSignal | undefined;
  /** Whether half of the time for it has passed; never if omitted. */
  readonly isLate?: (() => boolean) | undefined;
  /**
   * Claims the read units that a command is expected to take, before it is sent; returns the function that ends the claim once
   * the meter has what it took. Throws LIMIT_EXCEEDED if the work may not use so much.
   */
  readonly claim?: ((units: number) => () => void) | undefined;
  /** The meter's units are not needed. AWS reports them for free, but reporting slows DynamoDB Local's writes by a fifth. */
  readonly unpriced?: boolean | undefined;
  /** Undefined if nobody traces it. */
  readonly traced?: Traced | undefined;
  /** Collects each range that was read or served from a cache, for explanations; omitted if not requested. */
  readonly reads?: RangeRead[] | undefined;
  /** Collects each page of markers used, likewise. */
  readonly pages?: PageRead[] | undefined;
}

/** A call with its own meter, for startup and background work. */
export function newCall(signal?: AbortSignal): Call {
  return { meter: newMeter(), signal };
}
