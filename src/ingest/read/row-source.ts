import type { RowOffset } from './row-offset.js';
import type { Row } from './row.js';

/** Rows that can be read twice: all of them in their order, then any of them by their places. */
export interface RowSource<C> {
  /** What the places run up to: bytes of a file, or the number of rows. */
  readonly size: number;
  /** All rows, some at a time. What is held does not grow with the source. */
  scan(): AsyncIterable<readonly Row<C>[]>;
  /**
   * What the rows at some places say that a scan has given, in that order. Throws CONFLICT where the source is not what it was
   * when it was scanned.
   */
  read(places: readonly RowOffset[]): Promise<readonly C[]>;
  close(): Promise<void>;
}
