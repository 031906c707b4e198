import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';

import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Collection } from '../../model/collection.js';
import { dayOf, finalFrom } from '../../model/reading-summary.js';
import { DAY_MS } from '../../model/reading.js';
import { retry } from '../../retry.js';
import type { DueDay } from '../../store/reading/kept-days.js';
import { mapConcurrently } from '../../store/request/pacing.js';
import type { DaysPort, LeasedWork } from '../ports.js';
import { nameOfDay } from './fold.js';

export interface DaysOptions {
  readonly port: DaysPort;
  /** How long after its end a day is summarized, for readings that arrive late. */
  readonly waitMs?: number | undefined;
  /** Milliseconds between two searches for days that are due. */
  readonly everyMs?: number | undefined;
  /** Whether days are summarized, too; true by default. Otherwise they are only opened, and another process does it. */
  readonly closes?: boolean | undefined;
}

/** Shorter than deleteCollection waits before a collection's key can be used again. */
const COLLECTIONS_KEPT_MS = 10_000;
const REMEMBERED_BYTES = 16 * 1024 * 1024;
const DAYS_AT_A_TIME = 8;
const WAIT_MS = 3_600_000;
const EVERY_MS = 60_000;
/** Longer than it takes to put the readings for which a writer has opened a day. */
const AWAITED_MS = 900_000;

/**
 * Keeps the summaries of readings, in one session of the consumer. A day is opened, and listed as due, by the first reading
 * of a batch in it. When it is over, its summaries are computed from all its readings, and a write that is conditional on
 * the day being as it was read before closes it: a reading recorded meanwhile opens it again, and the write fails. So
 * summaries are exact however often, and how late, records are applied.
 */
export class MarkerDays {
  readonly #options: DaysOptions;
  readonly #work: LeasedWork;
  /** Grows from session to session: a former owner cannot close what this one has opened. */
  readonly #epoch: number;
  /** Days that this session has opened, and not begun to close. */
  readonly #open = new LRUCache<string, true>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (_, name) => 150 + 2 * name.length,
  });
  /** Whether the days that were due have been summarized. */
  closed: boolean;
  #collections: { readonly at: number; readonly byScope: ReadonlyMap<string, Collection> } | undefined;

  constructor(options: DaysOptions, work: LeasedWork, epoch: number) {
    this.#options = options;
    this.#work = work;
    this.#epoch = epoch;
    this.closed = options.closes === false;
  }

  /** All collections in use, those of these days included. */
  async #known(days: readonly MarkerDay[]): Promise<ReadonlyMap<string, Collection>> {
    const at = this.#work.clock.now();
    const known = this.#collections;
    const isRecent = known !== undefined && at - known.at <= COLLECTIONS_KEPT_MS;
    // A collection that was created since.
    if (isRecent && days.every(({ scope }) => known.byScope.has(scope))) return known.byScope;
    this.#collections = { at, byScope: await this.#options.port.collections() };
    return this.#collections.byScope;
  }

  /** Those of these days whose readings are summarized, and whose summaries are final or not. */
  async summarized(days: readonly MarkerDay[], final: boolean): Promise<MarkerDay[]> {
    const known = await this.#known(days);
    return days.filter((day) => {
      const collection = known.get(day.scope);
      return collection?.readingsSummarized === true && this.#isFinal(day, collection) === final;
    });
  }

  /** When the summaries of a day become final, in milliseconds since 1970. */
  async finalFrom(day: MarkerDay): Promise<number> {
    return finalFrom(day.day, (await this.#known([day])).get(day.scope)?.readingsTtlDays ?? null);
  }

  /** The kept days among these whose summaries are not those of their readings. */
  async wrong(days: readonly MarkerDay[]): Promise<MarkerDay[]> {
    const { port } = this.#options;
    const { clock } = this.#work;
    const wanted = await this.summarized(days, false);
    const stored = await port.read(wanted);
    const known = await this.#known(wanted);
    const wrong = await mapConcurrently(wanted, DAYS_AT_A_TIME, async (day, index) => {
      const collection = known.get(day.scope);
      const found = stored[index]?.kept;
      if (collection === undefined || found === undefined) return [];
      const summaries = await port.summarize(collection, day, clock.wall());
      return isDeepStrictEqual(summaries, found) ? [] : [day];
    });
    return wrong.flat();
  }

  #isFinal({ day }: MarkerDay, { readingsTtlDays }: Collection): boolean {
    return finalFrom(day, readingsTtlDays) <= this.#work.clock.wall();
  }

  /**
   * Opens the days of changed readings, if their collections keep summaries. Retries until it succeeds.
   */
  async open(days: readonly MarkerDay[]): Promise<void> {
    const { port } = this.#options;
    const { clock, log, signal } = this.#work;
    const unknown = days.filter((day) => !this.#open.has(nameOfDay(day)));
    if (unknown.length === 0) return;
    const onRetry = (err: unknown) => log.warn({ err }, 'Cannot open days of readings; retrying');
    await retry(
      async () => {
        const wanted = await this.summarized(unknown, false);
        if (wanted.length === 0) return;
        // Before they are opened: closing forgets them.
        for (const day of wanted) this.#open.set(nameOfDay(day), true);
        await port.open(wanted, this.#epoch);
      },
      { attempts: Infinity, onRetry, clock, signal },
    );
  }

  /** Closes the days that are due, again and again, until the signal is aborted. */
  async run(): Promise<void> {
    const { everyMs = EVERY_MS, closes = true } = this.#options;
    const { clock, log, signal } = this.#work;
    while (closes && !signal.aborted) {
      try {
        await this.closeDue();
        this.closed = true;
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, 'Cannot summarize readings; retrying');
      }
      await clock.sleep(everyMs, signal);
    }
  }

  /** Summarizes the days that are due. */
  async closeDue(): Promise<void> {
    const { port, waitMs = WAIT_MS } = this.#options;
    const { clock, signal } = this.#work;
    // The last day that has been over for long enough.
    const upTo = dayOf(new Date(clock.wall() - waitMs - DAY_MS).toISOString());
    for (const collection of (await this.#known([])).values()) {
      if (!collection.readingsSummarized) continue;
      for await (const days of port.due(collection, upTo)) {
        await mapConcurrently(days, DAYS_AT_A_TIME, async (due) => {
          signal.throwIfAborted();
          if (this.#work.holds()) await this.#close(collection, due);
        });
      }
    }
  }

  async #close(collection: Collection, due: DueDay): Promise<void> {
    const { port } = this.#options;
    const { clock, holds } = this.#work;
    // First: whatever is recorded from now on opens the day again.
    this.#open.delete(nameOfDay(due));
    const [found] = await port.read([due]);
    if (found !== undefined && found.kept === undefined) {
      if (found.epoch > this.#epoch || clock.wall() - (found.awaits ?? -Infinity) < AWAITED_MS) return;
      const own = found.epoch === this.#epoch ? found : await port.claim(due, found, this.#epoch);
      if (own === undefined) return;
      const summaries = await port.summarize(collection, due, clock.wall());
      if (!holds()) return;
      // Some of its readings may have expired meanwhile: better no summary than one without them.
      const kept = this.#isFinal(due, collection) ? undefined : summaries;
      if (!(await port.close(due, own, kept))) return;
    }
    await port.forget(due);
  }
}
