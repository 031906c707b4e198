import type { CellChanges } from '../../model/cell-changes.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import type { CellMemory } from '../cells/memory.js';
import type { StreamRecord } from '../change.js';
import type { DaysOptions } from '../days/apply.js';
import type { PagesOptions } from '../pages/kept-pages.js';
import type { CellsPort, StatePort, StreamParts, WinnersPort } from '../ports.js';
import type { LoadPolicy } from './flood.js';
import type { BatchLimits } from './reader.js';

/** The parts that a consumer works with. */
export interface SessionParts extends StreamParts {
  readonly state: StatePort;
  readonly cells: CellsPort;
  /** Omitted if pages are not maintained. */
  readonly pages?: PagesOptions | undefined;
  /** Omitted if summaries of readings are not kept. */
  readonly days?: DaysOptions | undefined;
  /** Omitted where no two items are the same marker. */
  readonly winners?: WinnersPort | undefined;
  /**
   * Called with each record as it is read, before the cells include it; the records of one item are in order. After a
   * loss or a change of ownership, some records are repeated.
   */
  readonly onRecord?: (record: StreamRecord, shard?: string) => void;
}

/** How it works with them; nothing here changes what is counted. */
export interface SessionTuning {
  readonly pollMs: number;
  readonly limits: BatchLimits;
  readonly load: LoadPolicy;
  readonly memory: CellMemory;
  /** Called if records were lost before `onRecord` got them. */
  readonly onLoss: (reason: string) => void;
  /** Called with each batch once all blocks include it. */
  readonly onApplied: (batch: number, changes: CellChanges) => void;
  /**
   * Whether the work is done, given the state, of which everything is applied, and when the stream was last known to be
   * read to its end, by the clock of this process. `closed`: whether nothing else is known to be due. Then no further
   * batch is planned, and the lease is released.
   */
  readonly enough: (state: StreamState, completeAt: number | undefined, closed: boolean) => boolean;
}

export interface SessionOptions extends SessionParts, SessionTuning {}

/** A consumer's report about its work, across sessions. */
export interface Progress {
  latest: StreamState | undefined;
  /** When the cells were last known to be complete, by the clock of this process. */
  completeAt: number | undefined;
  /** When everything in the stream was last known to be complete, in milliseconds since 1970. */
  endAt: number | undefined;
  blocksWritten: number;
}
