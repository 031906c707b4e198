import { LRUCache } from 'lru-cache';

import type { Clock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { periodMs, type Budget } from '../model/budget.js';
import { networkOf } from '../model/network.js';
import { ANONYMOUS, type Access } from './access.js';

/** What a bucket holds after something was asked of it, in read units. Below zero, it must fill up first. */
export interface Level {
  readonly taken: boolean;
  readonly left: number;
}

/** Buckets by name. Each fills up evenly to the units of its budget, in one period. */
export interface Buckets {
  /** Takes units if they are there, or in any case if `always`; a negative number gives back. */
  take(name: string, budget: Budget, units: number, always?: boolean): Promise<Level>;
  close(): void;
}

const BUCKETS_BYTES = 16 * 1024 * 1024;
const BYTES_OF_BUCKET = 200;

/** The buckets of one process. Of too many, those that were not used for longest are forgotten, and are full again. */
export class OwnBuckets implements Buckets {
  readonly #now: Clock['now'];
  readonly #levels = new LRUCache<string, { readonly left: number; readonly at: number }>({
    maxSize: BUCKETS_BYTES,
    sizeCalculation: (_, name) => BYTES_OF_BUCKET + 2 * name.length,
  });

  constructor({ now }: Pick<Clock, 'now'>) {
    this.#now = now;
  }

  async take(name: string, budget: Budget, wanted: number, always = false): Promise<Level> {
    const { units } = budget;
    const at = this.#now();
    const before = this.#levels.get(name) ?? { left: units, at };
    const filled = Math.min(units, before.left + ((at - before.at) * units) / periodMs(budget));
    const taken = always || wanted === 0 || wanted <= filled;
    const left = taken ? Math.min(units, filled - wanted) : filled;
    this.#levels.set(name, { left, at });
    return { taken, left };
  }

  close(): void {}
}

export interface BudgetOptions {
  readonly buckets: Buckets;
  /** Whether operations are refused, or only reported. */
  readonly enforced: boolean;
  /** The most read units of one operation; 0 for a part of the budget. */
  readonly maxRequestUnits: number;
  readonly log: Log;
}

/** The part of a budget that one operation may use: others of the same principal are to go on meanwhile. */
const SHARE = 1 / 4;
const REPORT_EVERY_MS = 60_000;
/** Principals that are named in one report. */
const MOST_NAMED = 20;
const MOST_COUNTED = 1_000;

interface Taken {
  readonly budget: Budget;
  /** What the operation may need, and the most that it may use, in read units. */
  readonly requested: number;
  readonly ceiling: number;
  readonly level: Level;
  readonly enforced: boolean;
  /** Whether the price is that of things that the principal does not see, too. */
  readonly isPartial: boolean;
  readonly giveBack: (units: number) => void;
}

/** The name of a principal's bucket. */
const nameOf = ({ id }: Access['principal'], address: string) =>
  id === ANONYMOUS ? `${ANONYMOUS} ${networkOf(address)}` : id;

/** What one operation has taken from its principal's budget. */
export class Reservation {
  readonly #taken: Taken;
  #actual = 0;

  constructor(taken: Taken) {
    this.#taken = taken;
  }

  /** The most that the operation may use, in read units. */
  get ceiling(): number {
    return this.#taken.ceiling;
  }

  /** THROTTLED if the operation is refused. */
  get refusal(): CellportError | undefined {
    const { budget, requested, level, enforced } = this.#taken;
    if (level.taken || !enforced) return undefined;
    const retryAfterMs = Math.max(1, this.#fillsMs(requested - this.#told(level.left, Math.floor)));
    const left = `${Math.floor(this.available)} of ${budget.units} read units a ${budget.per} are left`;
    return new CellportError('THROTTLED', `${left}, and this may take ${Math.ceil(requested)}; retry later`, {
      retryAfterMs,
    });
  }

  /** What is left of the budget, in read units. */
  get available(): number {
    const { budget, requested, level } = this.#taken;
    const left = level.taken ? level.left + requested - this.#actual : level.left;
    return Math.max(0, Math.min(budget.units, this.#told(left, Math.ceil)));
  }

  /** For `extensions.cost`, in read units. */
  get cost() {
    const { requested, isPartial } = this.#taken;
    return { requested, ...(isPartial ? {} : { actual: this.#actual }), available: this.available };
  }

  /** What is said to be left: to whoever sees only a part, in hundredths of the budget, so that it counts no marker. */
  #told(left: number, round: (hundredths: number) => number): number {
    const { budget, isPartial } = this.#taken;
    return isPartial ? (round((100 * left) / budget.units) * budget.units) / 100 : left;
  }

  /** As in draft-ietf-httpapi-ratelimit-headers-10: what the budget is, and what is left of it. */
  get headers(): (readonly [name: string, value: string])[] {
    const { budget, level, enforced } = this.#taken;
    const seconds = Math.ceil(this.#fillsMs(budget.units - this.available) / 1_000);
    const retryAfterMs = this.refusal?.details['retryAfterMs'];
    const policy = `"budget";q=${budget.units};w=${periodMs(budget) / 1_000};qu="read-units"`;
    return [
      ['ratelimit-policy', enforced ? policy : `${policy};measured`],
      ['ratelimit', `"budget";r=${Math.floor(this.available)};t=${seconds}${level.taken ? '' : ';throttled'}`],
      ...(retryAfterMs === undefined
        ? []
        : [['retry-after', String(Math.ceil(Number(retryAfterMs) / 1_000))] as const]),
    ];
  }

  /** Gives back what the operation did not use; what it used in addition is missing from the budget. Call once. */
  settle(actual: number): void {
    const { requested, level, giveBack } = this.#taken;
    this.#actual = actual;
    if (level.taken && actual !== requested) giveBack(requested - actual);
  }

  /** Milliseconds in which the budget gets so many units. */
  #fillsMs(units: number): number {
    const { budget } = this.#taken;
    return Math.ceil((Math.max(0, units) * periodMs(budget)) / budget.units);
  }
}

/** Whoever is refused so often within a second is told so, for as long, before its requests are read. */
const REFUSALS = 20;
/** Credentials of one network that are looked up within a second, without those that verify. */
const STRANGERS = 50;
const SECOND_MS = 1_000;
const FLOOD = new CellportError('THROTTLED', 'too many requests that were refused; retry later', {
  retryAfterMs: SECOND_MS,
});

/** The budgets of principals. */
export class Budgets {
  readonly #options: BudgetOptions;
  /** How many operations of whom were refused since the last report, or would have been. */
  readonly #refused = new Map<string, number>();
  /** Refusals and unknown credentials in the last second, by name. */
  readonly #floods = new LRUCache<string, { count: number }>({ max: MOST_COUNTED, ttl: SECOND_MS });
  #report: NodeJS.Timeout | undefined;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  /** Takes the read units that an operation may need, see `Reservation`; undefined if its principal has no budget. */
  async reserve(access: Access, address: string, bound: number): Promise<Reservation | undefined> {
    const { budget, principal, isPartial } = access;
    if (budget === undefined) return undefined;
    const { buckets, enforced, maxRequestUnits, log } = this.#options;
    const name = nameOf(principal, address);
    const most = Math.min(budget.units, maxRequestUnits || Math.max(1, budget.units * SHARE));
    const requested = Math.min(bound, most);
    const level = await buckets.take(name, budget, requested);
    if (!level.taken) this.#noteRefusal(name);
    const giveBack = (units: number) => {
      buckets.take(name, budget, -units, true).catch((err: unknown) => log.warn({ err }, 'Cannot settle a budget'));
    };
    const ceiling = enforced ? most : Infinity;
    return new Reservation({ budget, requested, ceiling, level, enforced, isPartial, giveBack });
  }

  /** THROTTLED for a principal that goes on although it is refused: reading its requests would cost others their turn. */
  floodOf({ principal }: Access, address: string): CellportError | undefined {
    return (this.#floods.get(nameOf(principal, address))?.count ?? 0) >= REFUSALS ? FLOOD : undefined;
  }

  /** Notes a document that was refused: whoever has a budget is not to spend the time of others on reading many. */
  noteInvalid({ budget, principal }: Access, address: string): void {
    if (budget !== undefined && this.#options.enforced) this.#note(nameOf(principal, address));
  }

  /**
   * Counts a credential from an address that must be looked up, which takes a read, whoever made it up; returns the function
   * that no longer counts it. Throws THROTTLED if there were too many within a second.
   */
  admitStranger(address: string): () => void {
    const flood = this.#note(`stranger ${networkOf(address)}`);
    if (flood.count > STRANGERS) throw FLOOD;
    return () => {
      flood.count -= 1;
    };
  }

  close(): void {
    clearTimeout(this.#report);
    if (this.#refused.size > 0) this.#write();
    this.#options.buckets.close();
  }

  #note(name: string): { count: number } {
    const flood = this.#floods.get(name) ?? { count: 0 };
    if (flood.count === 0) this.#floods.set(name, flood);
    flood.count += 1;
    return flood;
  }

  #noteRefusal(name: string): void {
    if (this.#options.enforced) this.#note(name);
    this.#report ??= setTimeout(() => this.#write(), REPORT_EVERY_MS).unref();
    if (this.#refused.has(name) || this.#refused.size < MOST_COUNTED)
      this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
  }

  #write(): void {
    const { enforced, log } = this.#options;
    const most = [...this.#refused].sort(([, a], [, b]) => b - a).slice(0, MOST_NAMED);
    this.#refused.clear();
    this.#report = undefined;
    const were = enforced ? 'were' : 'would have been';
    const who = most.map(([name, times]) => `${name} (${times})`).join(', ');
    log.warn({ refused: Object.fromEntries(most) }, `Operations ${were} refused in the last minute: budgets of ${who}`);
  }
}
