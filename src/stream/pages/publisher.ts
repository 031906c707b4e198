import type { Clock } from '../../clock.js';
import type { Log } from '../../log.js';
import type { SumsByName } from '../../model/cell-changes.js';
import type { RecentSums } from '../../pages/recent-cells.js';
import { following, type RecentWrite } from '../../pages/recent-writes.js';
import type { Began, StreamState } from '../../store/cell/stream-state.js';
import type { PublishedItems } from '../../store/page/recent-writes.js';
import type { Publication, RecentPort } from '../ports.js';
import { versioned } from './apply.js';
import type { WritesByScope } from './fold.js';

/**
 * Servers trust pages for two seconds and look for what is published four times a second. Batches that are applied sooner
 * than this are not published.
 */
const PUBLISH_AFTER_MS = 700;

/** For so long, blocks may be read without a batch that they include: they are cached, and reads lag. */
const READ_AFTER_MS = 5_000;

/** Longest list of items: the state costs a write unit for each kilobyte. */
const MOST_CHARACTERS = 1_000;

export interface PublisherOptions {
  readonly port: RecentPort;
  /** The state, and how it is changed. */
  readonly current: () => StreamState;
  readonly update: (change: (state: StreamState) => StreamState) => Promise<unknown>;
  /** Whether anything is published now. */
  readonly isOn: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** See `PagesOptions`. */
  readonly versionsByBatch: boolean;
}

/** What some records change, by scope: the last write to each marker, and the sums of finest cells and places. */
export interface RecentChanges {
  readonly writes: WritesByScope;
  readonly sums: ReadonlyMap<string, SumsByName>;
}

interface Unpublished extends RecentChanges {
  readonly batch: number;
  /** When the first of them may have been read, by the clock of this process. */
  readonly since: number;
}

/**
 * Publishes what was read from the stream and pages do not have yet, while a batch waits or is applied, so that maps can be
 * read from pages meanwhile: servers lay the published writes over them. A published write is a fact about its marker, with
 * its version, and never changes; so it does no harm if another owner publishes it again, or if the batch that has it turns
 * out to be another one.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  /** What was planned, and is neither published nor known to be read from pages and blocks; oldest first. */
  #waiting: readonly Unpublished[] = [];
  /** The batches that were complete lately, and since when, by the clock of this process; oldest first. */
  #complete: readonly { readonly batch: number; readonly at: number }[] = [];
  /** Since when the batch being gathered may have writes that are not published, by the clock of this process. */
  #since: number;
  /** For each batch that pages may lack, the first version after which it was published; oldest first. */
  #firsts: readonly { readonly batch: number; readonly version: number }[] = [];
  /** The items of these versions, by scope, in the order of the versions. */
  readonly #items = new Map<string, PublishedItems[string]>();
  readonly #began: Began;
  /** What to publish under after a failure. */
  #failed: Publication | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    const { version, batch, plan } = options.current();
    this.#began = { version, batch: plan === null ? batch + 1 : batch };
  }

  /** Call when nothing is gathered and all pages are complete. */
  rested(): void {
    this.#since = this.#options.clock.now();
    this.#forget();
  }

  /** Call when the batch being gathered is planned, with what it has that was not given to `publish`. */
  planned(batch: number, changes: RecentChanges): void {
    this.#waiting = [...this.#waiting, { batch, ...changes, since: this.#since }];
    this.#since = this.#options.clock.now();
  }

  /** Call when pages include a batch, and all those before it. */
  complete(batch: number): void {
    this.#complete = [...this.#complete, { batch, at: this.#options.clock.now() }];
    this.#forget();
    // What was published of this batch stays known until reads that lag have it in pages.
    this.#firsts = this.#firsts.filter((one) => one.batch >= batch);
  }

  /** Forgets what servers have read since it was complete. What is published before that goes together with it. */
  #forget(): void {
    const { isOn, clock } = this.#options;
    const before = clock.now() - (isOn() ? READ_AFTER_MS : 0);
    const read = this.#complete.findLast(({ at }) => at <= before)?.batch ?? -1;
    this.#complete = this.#complete.filter((one) => one.batch > read);
    this.#waiting = this.#waiting.filter((one) => one.batch > read || this.#isPartlyPublished(one));
  }

  /**
   * Of a batch that was published in part, the rest must be, too: pages may then have a marker that was created again, whose
   * version begins anew, while what was published has only the former one.
   */
  #isPartlyPublished({ batch }: Unpublished): boolean {
    return this.#firsts.some((one) => one.batch === batch);
  }

  /** Whether something was read so long ago that servers would stop trusting the pages. */
  get #isDue(): boolean {
    if (this.#waiting.some((one) => this.#isPartlyPublished(one))) return true;
    const complete = this.#complete.at(-1)?.batch ?? -1;
    const waiting = this.#waiting.filter((one) => one.batch > complete);
    const since = Math.min(this.#since, ...waiting.map((one) => one.since));
    return this.#options.clock.now() - since >= PUBLISH_AFTER_MS;
  }

  /**
   * If it is time, publishes what the batch being gathered has since the last call, and what waits; `endAt` is when the
   * stream was read to its end, in milliseconds since 1970. A failure is logged, and the next call publishes it again.
   */
  async publish(batch: number, fold: { takeRecent(): RecentChanges }, endAt: number): Promise<void> {
    const { clock, log, isOn, current, update } = this.#options;
    if (!isOn() || !this.#isDue) return;
    const now = clock.now();
    this.#forget();
    const publishing = [...this.#waiting, { batch, ...fold.takeRecent(), since: this.#since }];
    const { version, attempt } = this.#failed ?? { version: current().version, attempt: 0 };
    this.#waiting = publishing;
    this.#since = now;
    let items: ReadonlyMap<string, number>;
    try {
      items = await this.#put(batch, { version, attempt }, publishing);
    } catch (err) {
      log.warn({ err }, 'Cannot publish recent writes; retrying');
      // Some may be there: as part of this version, readers know that another attempt replaces them.
      this.#failed = { version, attempt: attempt + 1 };
      return;
    }
    this.#failed = undefined;
    this.#waiting = this.#waiting.filter((one) => !publishing.includes(one));
    if (this.#firsts.at(-1)?.batch !== batch) this.#firsts = [...this.#firsts, { batch, version }];
    const from = this.#firsts[0]?.version ?? version;
    const listed = this.#listed(items, { version, attempt }, from);
    const published = {
      from,
      to: version,
      began: this.#began,
      endAt,
      ...(listed.length <= MOST_CHARACTERS && { items: listed }),
    };
    await update((state) => ({ ...state, published }));
  }

  /** Adds what was published, and forgets what was before `from`. Gives the list of all. */
  #listed(items: ReadonlyMap<string, number>, { version, attempt }: Publication, from: number): string {
    for (const [scope, of] of this.#items) {
      const left = of.filter(([before]) => before >= from);
      if (left.length === 0) this.#items.delete(scope);
      else this.#items.set(scope, left);
    }
    for (const [scope, count] of items)
      this.#items.set(scope, [...(this.#items.get(scope) ?? []), [version, attempt, count]]);
    return JSON.stringify(Object.fromEntries(this.#items));
  }

  /**
   * Of each collection, the writes of several batches as those of the last one; only counts depend on the batch. Returns
   * the number of items by scope.
   */
  async #put(batch: number, as: Publication, publishing: readonly Unpublished[]): Promise<ReadonlyMap<string, number>> {
    const { port, versionsByBatch } = this.#options;
    const byScope = new Map<string, Map<string, RecentWrite>>();
    for (const { batch: own, writes } of publishing) {
      for (const [scope, recent] of writes) {
        const all = byScope.get(scope) ?? new Map<string, RecentWrite>();
        byScope.set(scope, all);
        for (const [key, write] of recent) {
          const { entry } = write;
          const one = versionsByBatch ? { key, mapVersion: own, entry: entry && versioned(entry, own) } : write;
          const known = all.get(key);
          all.set(key, following({ ...one, mapVersion: Math.max(one.mapVersion, known?.mapVersion ?? 0) }, known));
        }
      }
    }
    const items = new Map<string, number>();
    for (const [scope, writes] of byScope) {
      const sums = publishing.flatMap((one): RecentSums | [] => {
        const changed = one.sums.get(scope);
        return changed ? { batch: one.batch, sums: changed } : [];
      });
      items.set(scope, await port.put(scope, as, { batch, writes: [...writes.values()], sums }));
    }
    return items;
  }
}
