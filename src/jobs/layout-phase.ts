import type { Collection, LayoutChange } from '../model/collection.js';
import type { PartitionPrefixes } from '../store/cell/partition-prefixes.js';
import type { Call } from '../store/database.js';
import type { OwnJob, Worker } from './job.js';

/** How far a change of a layout is. */
export interface RepartitionProgress {
  readonly phase: LayoutChange['phase'];
  /** Markers read in this phase, by this process. */
  readonly markers: number;
  /** Number of changes that took. */
  readonly changed: number;
  /** Fraction of the phase's markers that are done; undefined while waiting. */
  readonly part: number | undefined;
  /** What is waited for: until every process knows of the phase, or until the index shows all that was written. */
  readonly waitsFor?: 'PROCESSES' | 'INDEX';
}

export interface RepartitionOptions {
  readonly worker: Worker;
  /**
   * Resolves once every process has read the collection since the call: readers and writers that know an earlier state
   * have ended.
   */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  /** The prefixes under which the collection may have markers; used if there are too many to read all. */
  readonly occupied: (collection: Collection, signal: AbortSignal) => Promise<PartitionPrefixes>;
  /** Maximum number of write units per second. */
  readonly maxWcu: number;
  readonly onProgress: (progress: RepartitionProgress) => void;
}

/** One phase of a change. */
export interface Phase {
  readonly options: RepartitionOptions;
  readonly collection: Collection;
  readonly change: LayoutChange;
  readonly job: OwnJob;
  /** Its signal ends the phase if the collection is changed by others. */
  readonly call: Call & { readonly signal: AbortSignal };
}
