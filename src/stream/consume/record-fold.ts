import { isDeepStrictEqual } from 'node:util';

import type { Keyspace } from '../../keys/keyspace.js';
import type { CellChanges } from '../../model/cell.js';
import type { DeadLetter } from '../../store/cell/dead-letters.js';
import { type StreamRecord, changeOf } from '../change.js';
import { createFold } from '../cells/fold.js';
import { MarkerFold } from '../pages/fold.js';
import type { MarkerDay } from '../../keys/derived-keyspace.js';
import { DayFold } from '../days/apply.js';
import type { PageChange } from '../pages/apply.js';

/** Distinguishes markers from other items by their keys. */
export type RecordKeys = Keyspace;

const LONGEST_KEY_KEPT = 4_096;

/** The dead letter for a record that cannot be understood, stored for inspection. */
export function deadLetterOf(shard: string, { sequence, keys, event }: StreamRecord, reason: string): DeadLetter {
  return { shard, sequence, reason, event, item: JSON.stringify(keys).slice(0, LONGEST_KEY_KEPT) };
}

/** Folds records into changes of cells. Those that cannot be understood become dead letters. */
export class RecordFold {
  readonly deadLetters: DeadLetter[] = [];
  records = 0;
  readonly #keys: RecordKeys;
  readonly #fold = createFold();
  readonly #markers = new MarkerFold();
  readonly #days: DayFold;

  constructor(keys: RecordKeys) {
    this.#keys = keys;
    this.#days = new DayFold(keys);
  }

  add(shard: string, record: StreamRecord): void {
    this.records += 1;
    const change = changeOf(this.#keys, record);
    if (change === undefined) {
      this.#days.add(record);
      return;
    }
    const { scope, key, before, after, fault } = change;
    if (fault !== undefined) this.deadLetters.push(deadLetterOf(shard, record, fault));
    if (scope === undefined || key === undefined) return;
    this.#markers.add(this.#keys, { scope, key, before: record.before, after: record.after });
    if (isDeepStrictEqual(before, after)) return;
    if (before !== undefined) this.#fold.add(scope, before, -1);
    if (after !== undefined) this.#fold.add(scope, after, 1);
  }

  /** The number of finest cells, places and days of readings touched. */
  cells(): number {
    return this.#fold.cells() + this.#days.size;
  }

  changes(): CellChanges {
    return this.#fold.changes();
  }

  /** The days of changed readings. */
  days(): MarkerDay[] {
    return this.#days.days();
  }

  /** The net changes of all markers. */
  markers(): PageChange[] {
    return this.#markers.changes();
  }
}
