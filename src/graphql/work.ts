import type { Reservation } from '../access/budgets.js';
import { CellportError, limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';
import { READS_OF_A_WRITE } from '../model/read-cost.js';
import type { Turn } from '../scheduling/turns.js';
import type { Call, Database } from '../store/database.js';
import { newMeter, type PageRead, type RangeRead } from '../store/request/meter.js';
import { endSpan, type Traced } from '../tracing.js';

/** Time for reads that stop at the deadline to return their errors, so that the client gets a partial answer. */
const GRACE_MS = 250;

/** Advice for an answer with too many objects. */
export const SHORTER = 'request shorter pages, or fewer nested lists';

/** What became of a mutation: `OK` or the code of its error, and the items of its list that failed, by their index. */
export interface Outcome {
  readonly code: string;
  readonly failures: readonly { readonly index: number; readonly code: string }[];
}

export const outcomeOfError = (error: unknown): Outcome => ({
  code: error instanceof CellportError ? error.code : 'INTERNAL_SERVER_ERROR',
  failures: [],
});

/** The reason with which reads of a disconnected client are aborted; neither sent nor logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What a response reports about its request: its cost, and the ranges it read. */
export interface Reported {
  readonly cost: boolean;
  readonly reads: boolean;
}

/** One request from arrival to response: its cost, and the signal to stop. */
export class Work implements Call {
  readonly db: Database;
  readonly meter = newMeter();
  /** What logs and metrics say of its operation. */
  readonly told: { operation?: string | undefined; code?: string | undefined; principal?: string | undefined } = {};
  /** What became of each field of a mutation that has been executed, or for which it is refused, by its name in the answer. */
  readonly outcomes = new Map<string, Outcome>();
  /** What it has taken from the budget of its principal. */
  reservation: Reservation | undefined;
  unpriced: boolean;
  readonly reads: RangeRead[] | undefined;
  readonly pages: PageRead[] | undefined;
  readonly traced: Traced | undefined;
  readonly signal: AbortSignal;
  /** Resolves shortly after the deadline with the error to send, even if work is still running. */
  readonly overdue: Promise<CellportError>;
  readonly #limits: Limits;
  readonly #began: number;
  readonly #stop = new AbortController();
  readonly #deadline: NodeJS.Timeout;
  #lastCall: NodeJS.Timeout | undefined;
  #gone: AbortSignal | undefined;
  #writing = false;
  /** The most read units that it may use, and what commands claim that are under way or have failed. */
  #ceiling = Infinity;
  #claimed = 0;
  #objects = 0;
  #refusal: CellportError | undefined;

  /**
   * Starts a request that has waited this long already, and ends its span, if it has one. At its deadline everything that listens to `signal` fails with
   * UNAVAILABLE.
   */
  constructor(
    limits: Limits,
    db: Database,
    { cost, reads }: Reported = { cost: true, reads: false },
    waitedMs = 0,
    traced?: Traced,
  ) {
    this.traced = traced;
    const { deadlineMs, maxRequestUnits } = limits;
    this.unpriced = !cost && !reads && traced === undefined;
    if (maxRequestUnits > 0) this.limitTo(maxRequestUnits);
    this.reads = reads ? [] : undefined;
    this.pages = reads ? [] : undefined;
    this.signal = this.#stop.signal;
    this.#limits = limits;
    this.db = db;
    this.#began = db.scheduler.clock.now() - waitedMs;
    // Created on demand, because an error captures the stack.
    const late = () =>
      new CellportError('UNAVAILABLE', `the request took longer than its deadline of ${deadlineMs} ms`, { deadlineMs });
    this.#deadline = setTimeout(() => this.#stop.abort(late()), deadlineMs - waitedMs);
    this.overdue = new Promise<CellportError>((resolve) => {
      this.#lastCall = setTimeout(() => resolve(late()), deadlineMs - waitedMs + GRACE_MS);
    });
    // Servers of others do not say when a request has ended.
    this.#deadline.unref();
    this.#lastCall?.unref();
  }

  /** The error with which the whole request is refused; undefined if it is not. */
  get refusal(): CellportError | undefined {
    return this.#refusal;
  }

  /** Await between steps of long work; rejects as soon as `signal` is aborted. */
  readonly turn: Turn = () => this.db.scheduler.takeTurn(this.signal);

  /** Whether half of the time until the deadline has passed. */
  readonly isLate = (): boolean => this.db.scheduler.clock.now() - this.#began > this.#limits.deadlineMs / 2;

  readonly #abandon = (): void => {
    if (!this.#writing) this.#stop.abort(new ClientGone('the client has disconnected'));
  };

  /** Stops reads once the client has disconnected; a mutation continues, so that its outcome is certain. */
  stopOn(gone: AbortSignal | undefined): void {
    this.#gone = gone;
    gone?.addEventListener('abort', this.#abandon);
    if (gone?.aborted === true) this.#abandon();
  }

  /** Call before the first write of a mutation. */
  startWriting(): void {
    this.#writing = true;
  }

  /** From now on, lets it use at most so many read units, a write unit counting as five. */
  limitTo(units: number): void {
    this.#ceiling = Math.min(this.#ceiling, units);
    this.unpriced = false;
  }

  /** What it has used, in read units. */
  get spent(): number {
    return this.meter.readUnits + READS_OF_A_WRITE * this.meter.writeUnits + this.#claimed;
  }

  /** See `Call`. What is read too much ends the whole request; what was written before stays. */
  readonly claim = (units: number): (() => void) => {
    if (this.spent + units > this.#ceiling) {
      const field = 'number of read units of the request, with five for a write unit,';
      const advice = 'ask for less at a time, or let its operator raise CELLPORT_MAX_REQUEST_UNITS or the budget';
      const refusal = limitExceeded(field, `more than ${this.#ceiling}`, this.#ceiling, advice);
      if (!this.#writing) this.#stop.abort((this.#refusal ??= refusal));
      throw refusal;
    }
    this.#claimed += units;
    return () => {
      this.#claimed -= units;
    };
  };

  /** Counts objects of the answer. Throws LIMIT_EXCEEDED above the limit, and then stops all reads of the request. */
  charge(objects: number): void {
    const { maxNodes } = this.#limits;
    this.#objects += objects;
    // A mutation has already written, so its answer is not refused.
    if (this.#objects <= maxNodes || this.#writing) return;
    this.#refusal ??= limitExceeded('number of objects in the answer', `more than ${maxNodes}`, maxNodes, SHORTER);
    this.#stop.abort(this.#refusal);
    throw this.#refusal;
  }

  /** Resets the count of objects, because the answer is produced again. */
  recount(): void {
    this.#objects = 0;
  }

  /** Clears the timers and the listener. */
  end(): void {
    this.#gone?.removeEventListener('abort', this.#abandon);
    const { readUnits, writeUnits } = this.meter;
    const { operation, code } = this.told;
    const units = { 'cellport.read_units': readUnits, 'cellport.write_units': writeUnits };
    if (this.traced?.span) endSpan(this.traced.span, { ...units, 'graphql.operation.name': operation }, code);
    clearTimeout(this.#deadline);
    clearTimeout(this.#lastCall);
  }
}
