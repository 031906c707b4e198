import type { Place } from './place.js';
import type { MarkerRow, Row } from './row.js';

/** Rows that can be read twice: all of them in their order, then any of them by their places. */
export interface RowSource {
  /** What the places run up to: bytes of a file, or the number of rows. */
  readonly size: number;
  /** All rows, some at a time. What is held does not grow with the source. */
  scan(): AsyncIterable<readonly Row[]>;
  /**
   * The markers at some places that a scan has given, in that order. Throws CONFLICT where the source is not what it was
   * when it was scanned.
   */
  read(places: readonly Place[]): Promise<readonly MarkerRow[]>;
  close(): Promise<void>;
}
