import type { Clock } from '../../clock.js';
import type { Log } from '../../log.js';
import type { RecentWrite } from '../../pages/recent-writes.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import type { RecentPort } from '../ports.js';
import { versioned } from './apply.js';
import type { WritesByScope } from './fold.js';

/**
 * Servers trust pages for two seconds and look for what is published each second. Batches that are applied sooner than this
 * are not published.
 */
const PUBLISH_AFTER_MS = 700;

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

interface Unpublished {
  readonly batch: number;
  readonly writes: WritesByScope;
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
  /** What was planned, and is neither published nor in pages; oldest first. */
  #waiting: readonly Unpublished[] = [];
  /** Since when the batch being gathered may have writes that are not published, by the clock of this process. */
  #since: number;
  /** For each batch that pages may lack, the first version after which it was published; oldest first. */
  #firsts: readonly { readonly batch: number; readonly version: number }[] = [];

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#since = options.clock.now();
  }

  /** Call when nothing is gathered and all pages are complete. */
  rested(): void {
    this.#since = this.#options.clock.now();
  }

  /** Call when the batch being gathered is planned, with what it has that was not given to `publish`. */
  planned(batch: number, writes: WritesByScope): void {
    this.#waiting = [...this.#waiting, { batch, writes, since: this.#since }];
    this.#since = this.#options.clock.now();
  }

  /** Call when pages include a batch, and all those before it. */
  complete(batch: number): void {
    this.#waiting = this.#waiting.filter((one) => one.batch > batch || this.#isPartlyPublished(one));
    // What was published of this batch stays known until reads that lag have it in pages.
    this.#firsts = this.#firsts.filter((one) => one.batch >= batch);
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
    const since = Math.min(this.#since, ...this.#waiting.map((one) => one.since));
    return this.#options.clock.now() - since >= PUBLISH_AFTER_MS;
  }

  /**
   * If it is time, publishes what the batch being gathered has since the last call, and what waits; `endAt` is when the
   * stream was read to its end, in milliseconds since 1970. A failure is logged, and the next call publishes it again.
   */
  async publish(batch: number, fold: { takeRecent(): WritesByScope }, endAt: number): Promise<void> {
    const { clock, log, isOn, current, update } = this.#options;
    if (!isOn() || !this.#isDue) return;
    const began = clock.now();
    const writes = fold.takeRecent();
    const publishing = [...this.#waiting, { batch, writes, since: this.#since }];
    const { version } = current();
    this.#waiting = publishing;
    this.#since = began;
    try {
      await this.#put(batch, version, publishing);
    } catch (err) {
      log.warn({ err }, 'Cannot publish recent writes; retrying');
      return;
    }
    this.#waiting = this.#waiting.filter((one) => !publishing.includes(one));
    if (this.#firsts.at(-1)?.batch !== batch) this.#firsts = [...this.#firsts, { batch, version }];
    const from = this.#firsts[0]?.version ?? version;
    await update((state) => ({ ...state, published: { from, to: version, endAt } }));
  }

  /** Of each collection, the writes of several batches as those of the last one. */
  async #put(batch: number, version: number, publishing: readonly Unpublished[]): Promise<void> {
    const { port, versionsByBatch } = this.#options;
    const byScope = new Map<string, Map<string, RecentWrite>>();
    for (const { batch: own, writes } of publishing) {
      for (const [scope, recent] of writes) {
        const all = byScope.get(scope) ?? new Map<string, RecentWrite>();
        byScope.set(scope, all);
        for (const [key, write] of recent) {
          const { entry } = write;
          const one = versionsByBatch ? { key, mapVersion: own, entry: entry && versioned(entry, own) } : write;
          all.set(key, { ...one, mapVersion: Math.max(one.mapVersion, all.get(key)?.mapVersion ?? 0) });
        }
      }
    }
    for (const [scope, writes] of byScope) await port.put(scope, version, { batch, writes: [...writes.values()] });
  }
}
