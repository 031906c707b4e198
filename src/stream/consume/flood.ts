import type { Clock } from '../../clock.js';
import type { Applied } from '../cells/apply.js';

/**
 * A flood begins with a batch of at least this many blocks, and lasts while at least this many records arrive per
 * second. Most blocks and pages of a batch are written for a few markers, so fewer batches write fewer of them: during
 * a flood each batch gathers `growth` times the records of all earlier batches, but waits no longer than `waitMs`.
 *
 * A first load is a flood into empty tables: a batch has more records than all earlier ones, or most blocks of the last
 * batch did not exist, or that batch was full. Whatever is written early is soon written again, so a batch waits for
 * the end of the load, up to `waitMs`; one that begins when everything has been applied waits up to `fromRestMs`.
 *
 * Any other batch that begins when everything has been applied does not wait, or up to `fromRestMs` if that is given.
 */
export interface LoadPolicy {
  readonly blocks: number;
  readonly recordsPerSecond: number;
  readonly growth: number;
  readonly waitMs: number;
  readonly fromRestMs?: number;
  readonly firstLoad: { readonly blocks: number; readonly waitMs: number; readonly fromRestMs: number };
}

/** By trial on 135,233 cities. */
export const LOAD_POLICY = {
  blocks: 1_000,
  recordsPerSecond: 100,
  growth: 2,
  waitMs: 20_000,
  firstLoad: { blocks: 250, waitMs: 60_000, fromRestMs: 60_000 },
} as const satisfies LoadPolicy;

/** For tables where writes cost only time: the first counts come at once, and the others when no one else writes. */
export const EMBEDDED_LOAD_POLICY = {
  ...LOAD_POLICY,
  firstLoad: { ...LOAD_POLICY.firstLoad, fromRestMs: 0 },
} as const satisfies LoadPolicy;

/**
 * For a process that works on one batch at a time, and is paid for while it waits. By calculation, while 10,000 markers
 * move each second, a batch every five seconds takes a quarter of the writes of one each second.
 */
export const BRIEF_LOAD_POLICY = {
  ...LOAD_POLICY,
  fromRestMs: 5_000,
  firstLoad: { ...LOAD_POLICY.firstLoad, fromRestMs: 5_000 },
} as const satisfies LoadPolicy;

/** Whether a batch waits for more, given the number of records read within the last second and of all that it has. */
export type Waits = (lately: number, gathered: number) => boolean;

/** Decides how long batches wait for more records while many arrive. */
export class Flood {
  readonly #policy: LoadPolicy;
  readonly #clock: Clock;
  /** Number of records of a full batch. */
  readonly #full: number;
  /** Number of records of the flood so far. */
  #records = 0;
  /** Number of records for which the next batch waits, and until when. */
  #enough = 0;
  #until = -Infinity;
  #isFirstLoad: boolean;

  /** `records`: the number of those of all earlier batches. */
  constructor(policy: LoadPolicy, clock: Clock, full: number, records: number) {
    this.#policy = policy;
    this.#clock = clock;
    this.#full = full;
    this.#isFirstLoad = records === 0;
  }

  /** Whether the last batch was one of a first load. */
  get isFirstLoad(): boolean {
    return this.#isFirstLoad;
  }

  /** For a batch that begins when everything has been applied, `records` in total. */
  fromRest(records: number): Waits {
    const { firstLoad, recordsPerSecond, fromRestMs = 0 } = this.#policy;
    const begun = this.#clock.now();
    return (lately, gathered) =>
      lately >= recordsPerSecond &&
      this.#clock.now() - begun < (gathered > records ? firstLoad.fromRestMs : fromRestMs);
  }

  /** Whether the batch after the last applied one waits for more. */
  goesOn(lately: number, gathered: number): boolean {
    return gathered < this.#enough && lately >= this.#policy.recordsPerSecond && this.#clock.now() < this.#until;
  }

  /** Call with each applied batch. */
  applied(records: number, { blocks, created }: Applied): void {
    const { firstLoad, growth, waitMs, blocks: least } = this.#policy;
    const isIntoEmpty = 2 * created > blocks || records >= this.#full;
    this.#records += records;
    this.#isFirstLoad = blocks >= firstLoad.blocks && isIntoEmpty;
    if (this.#isFirstLoad) this.#waitFor(Infinity, firstLoad.waitMs);
    else if (blocks >= least) this.#waitFor(growth * this.#records, waitMs);
    else {
      this.#records = 0;
      this.#waitFor(0, 0);
    }
  }

  #waitFor(enough: number, ms: number): void {
    this.#enough = enough;
    this.#until = this.#clock.now() + ms;
  }
}
