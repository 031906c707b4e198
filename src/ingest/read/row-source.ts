import type { RowOffset } from './row-offset.js';
import type { Row } from './row.js';

/** Rows that can be read twice: all of them in order, then any of them by their offsets. */
export interface RowSource<C> {
  /** The end of the offsets: bytes of a file, or the number of rows. */
  readonly size: number;
  /** All rows, in batches. Memory does not grow with the source. */
  scan(): AsyncIterable<readonly Row<C>[]>;
  /** The contents of scanned rows at these offsets, in this order. Throws CONFLICT if the source has changed since. */
  read(offsets: readonly RowOffset[]): Promise<readonly C[]>;
  close(): Promise<void>;
}

/** The same rows, each passed to `onRow` while they are scanned. */
export function watched<C>(rows: RowSource<C>, onRow: (row: Row<C>) => void): RowSource<C> {
  return {
    size: rows.size,
    async *scan() {
      for await (const some of rows.scan()) {
        some.forEach(onRow);
        yield some;
      }
    },
    read: (offsets) => rows.read(offsets),
    close: () => rows.close(),
  };
}
