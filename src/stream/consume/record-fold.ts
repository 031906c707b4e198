import { isDeepStrictEqual } from 'node:util';

import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { CellChanges, SumsByName } from '../../model/cell-changes.js';
import type { DeadLetter } from '../../store/cell/dead-letters.js';
import { CellFold } from '../cells/fold.js';
import { changeOf, type Contention, type StreamRecord } from '../change.js';
import { DayFold } from '../days/fold.js';
import type { PageChange } from '../pages/apply.js';
import { PageFold } from '../pages/fold.js';
import type { RecentChanges } from '../pages/publisher.js';

const LONGEST_KEY_KEPT = 4_096;

/** The dead letter for a record that cannot be understood, stored for inspection. */
export function deadLetterOf(
  shard: string,
  { sequence, keys, event }: Pick<StreamRecord, 'sequence' | 'keys' | 'event'>,
  reason: string,
): DeadLetter {
  return { shard, sequence, reason, event, item: JSON.stringify(keys).slice(0, LONGEST_KEY_KEPT) };
}

/** What some records change. */
export interface Folded {
  readonly changes: CellChanges;
  /** The net changes of all markers. */
  readonly markers: readonly PageChange[];
  /** The days of changed readings. */
  readonly days: readonly MarkerDay[];
  readonly deadLetters: readonly DeadLetter[];
  /** How many more dead letters there are with them: some take one away. */
  readonly moreLetters: number;
  /** The last of each item about each marker, from which its change follows. */
  readonly contentions: readonly Contention[];
  /** With records of markers that follow from them. */
  readonly and: (records: readonly StreamRecord[]) => Folded;
}

/** Folds records into changes of derived data. Those that cannot be understood become dead letters. */
export class RecordFold {
  readonly deadLetters: DeadLetter[] = [];
  records = 0;
  #moreLetters = 0;
  readonly #keys: Keyspace;
  readonly #cells = new CellFold();
  /** What was folded since it was last taken; undefined if nobody takes it. */
  #recentCells: CellFold | undefined;
  readonly #pages: PageFold;
  readonly #days: DayFold;
  readonly #contentions = new Map<string, Contention>();

  constructor(keys: Keyspace, recent: { readonly keepsRecent: boolean } = { keepsRecent: false }) {
    this.#keys = keys;
    this.#pages = new PageFold(recent);
    if (recent.keepsRecent) this.#recentCells = new CellFold();
    this.#days = new DayFold(keys);
  }

  add(shard: string, record: StreamRecord): void {
    this.records += 1;
    for (const one of record.contentions ?? []) this.#contentions.set(`${one.key}\n${one.item}`, one);
    const { fault: mapped } = record;
    if (mapped) this.#setAside(shard, { ...record, keys: mapped.keys }, mapped.reason, mapped.more);
    const change = changeOf(this.#keys, record);
    if (change === undefined) {
      this.#days.add(record.keys);
      return;
    }
    const { scope, key, before, after, fault } = change;
    if (fault !== undefined) this.#setAside(shard, record, fault, 1);
    if (scope === undefined || key === undefined) return;
    this.#pages.add(this.#keys, { scope, key, before: record.before, after: record.after });
    if (isDeepStrictEqual(before, after)) return;
    for (const cells of [this.#cells, this.#recentCells]) {
      if (before !== undefined) cells?.add(scope, before, -1);
      if (after !== undefined) cells?.add(scope, after, 1);
    }
  }

  #setAside(shard: string, record: StreamRecord, reason: string, more: number): void {
    this.deadLetters.push(deadLetterOf(shard, record, reason));
    this.#moreLetters += more;
  }

  /** The number of finest cells, places, days of readings and contenders touched. */
  get size(): number {
    return this.#cells.size + this.#days.size + this.#contentions.size;
  }

  /** What was folded since this was last called. */
  takeRecent(): RecentChanges {
    const sums = this.#recentCells?.sums() ?? new Map<string, SumsByName>();
    this.#recentCells &&= new CellFold();
    return { writes: this.#pages.takeRecent(), sums };
  }

  folded(): Folded {
    return {
      changes: this.#cells.changes(),
      markers: this.#pages.changes(),
      days: this.#days.changes(),
      deadLetters: this.deadLetters,
      moreLetters: this.#moreLetters,
      contentions: [...this.#contentions.values()],
      and: (records) => {
        for (const record of records) this.add('', record);
        return this.folded();
      },
    };
  }
}
