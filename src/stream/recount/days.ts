import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { WireImage } from '../change.js';
import type { MarkerDays } from '../days/apply.js';
import { DayFold, nameOfDay } from '../days/fold.js';
import type { DaysPort } from '../ports.js';

/** The result of a recount for the summaries of readings. */
export interface RecountedDays {
  /** Days that were opened, to be summarized again, or compared with their readings. */
  readonly days: number;
  /** Days with other summaries than their readings have, or with none. */
  readonly wrongDays: readonly MarkerDay[];
}

export interface RecountDaysOptions {
  readonly keys: Keyspace;
  readonly port: DaysPort;
  readonly days: MarkerDays;
  readonly checkOnly: boolean;
}

/**
 * Opens every day with readings or summaries, so that it is summarized again; or compares them. Readings and summaries
 * come page by page, so that only those that differ take memory.
 */
export class RecountDays {
  readonly #options: RecountDaysOptions;
  readonly #wrong = new Map<string, MarkerDay>();
  /** Days that the consumer will open. */
  readonly #changed = new Set<string>();
  #days = 0;

  constructor(options: RecountDaysOptions) {
    this.#options = options;
  }

  /** Takes a page of items of the table of entities. */
  async addItems(images: readonly WireImage[]): Promise<void> {
    const fold = new DayFold(this.#options.keys);
    for (const image of images) fold.add(image);
    const { days, port, checkOnly } = this.#options;
    const found = await days.summarized(fold.changes(), false);
    if (found.length === 0) return;
    if (!checkOnly) return this.#open(found);
    const stored = await port.read(found);
    found.filter((_, index) => stored[index] === undefined).forEach((day) => this.#wrong.set(nameOfDay(day), day));
  }

  /** Takes the days in records that were read since. */
  async addRecords(changed: readonly MarkerDay[]): Promise<void> {
    for (const day of changed) this.#changed.add(nameOfDay(day));
    if (!this.#options.checkOnly) await this.#options.days.open(changed);
  }

  /**
   * Takes a page of days with summaries. Those that became final at `inexactSince` (milliseconds since 1970) or later may
   * lack readings, and cannot be computed again: they are deleted.
   */
  async addStored(stored: readonly MarkerDay[], inexactSince: number): Promise<void> {
    if (stored.length === 0) return;
    const { days, port, checkOnly } = this.#options;
    if (checkOnly) {
      this.#days += stored.length;
      const unchanged = stored.filter((day) => !this.#changed.has(nameOfDay(day)));
      for (const day of await days.wrong(unchanged)) this.#wrong.set(nameOfDay(day), day);
      return;
    }
    await this.#open(await days.summarized(stored, false));
    const doubtful: MarkerDay[] = [];
    for (const day of await days.summarized(stored, true)) {
      if ((await days.finalFrom(day)) >= inexactSince) doubtful.push(day);
    }
    await port.remove(doubtful);
  }

  async #open(days: readonly MarkerDay[]): Promise<void> {
    this.#days += days.length;
    await this.#options.days.open(days);
  }

  result(): RecountedDays {
    const wrongDays = [...this.#wrong].filter(([name]) => !this.#changed.has(name)).map(([, day]) => day);
    return { days: this.#days, wrongDays };
  }
}
