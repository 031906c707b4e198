import type { RangeRead } from './read-log.js';

/** What DynamoDB reported for one request of a client, summed over its commands. Filled by `send`. */
export interface Meter {
  /** Query and Scan calls, each page one. */
  queries: number;
  /** Items asked for by key. */
  getItems: number;
  /** Items written, deleted or refused by a condition. */
  writes: number;
  readUnits: number;
  writeUnits: number;
  /** Items that Query and Scan calls read, before filters. */
  itemsScanned: number;
  /** Items that came back, by key or by range. */
  itemsReturned: number;
  /** Cell blocks, and ranges of markers, that needed no call because they were cached. */
  cacheHits: number;
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
  };
}

/** What goes down with every command of one piece of work: where its cost is counted, and when to stop. */
export interface Call {
  readonly meter: Meter;
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether nobody will read the meter's units: then DynamoDB is not asked for them, and they stay 0. AWS tells them for
   * nothing, but DynamoDB Local writes a fifth slower where it has to.
   */
  readonly unpriced?: boolean | undefined;
  /** Takes each range that was read, as its call ends, or that a cache answered; left out where nobody will look. */
  readonly reads?: RangeRead[] | undefined;
}

/** A call that nobody meters or stops: start-up and background work. */
export function newCall(signal?: AbortSignal): Call {
  return { meter: newMeter(), signal };
}
