import type { Scheduler } from './scheduler.js';

/** A request that is being worked on. */
export interface Place {
  /** How long it has waited in line, in milliseconds. That time counts towards its deadline. */
  readonly waitedMs: number;
  /** Call once, when the work is done. */
  leave(): void;
}

/**
 * Requests of a kind in progress at a time. In the simulation of test/scheduling/admission.test.ts, 4 answer as many as 64; at
 * three times the capacity, the slowest hundredth takes 1.5 s with 16, 1.9 s with 32 and 3.5 s with 64. Fewer would leave
 * the event loop idle where DynamoDB takes long.
 */
const PLACES = 16;
/** No request is refused while fewer than this are in progress or waiting. */
export const FEW = 64;
/** As many as wait for a second if each takes a millisecond, the least that a request does. */
const LONGEST_LINE = 1_000;
/** The longest wait that a request may expect. People wait longer for what they have entered. */
const PATIENCE_MS = { read: 1_000, write: 2_000 };
/** The pace of the line is measured over half as many answers, up to as many: a second or two under full load. */
const REMEMBERED = 512;

/**
 * A fixed number of requests in progress, and others that wait in line for their places, first come, first served. A
 * request is refused if it would wait longer than people do, measured by the answers that those in line have waited for.
 *
 * Requests start after those that have arrived have joined the line, as steps among all others of the scheduler. Otherwise
 * the event loop would answer all that arrived during the previous round in one round, and none could be refused before.
 */
export class Line {
  readonly #patienceMs: number;
  readonly #deadlineMs: number;
  readonly #scheduler: Scheduler;
  /** What starts each waiting request, in the order of arrival. */
  readonly #waiting = new Set<() => void>();
  #inProgress = 0;
  #isStarting = false;
  /** Answers given while requests waited for places, and the time that it took. */
  #answers = 0;
  #answersMs = 0;
  /** When the last answer was given or, if none waited then, the first in line began to wait. */
  #since = 0;

  /** Requests still in line at their deadline are refused. */
  constructor(patienceMs: number, deadlineMs: number, scheduler: Scheduler) {
    this.#patienceMs = patienceMs;
    this.#deadlineMs = deadlineMs;
    this.#scheduler = scheduler;
  }

  /** How many requests more than there are places; none waits unless positive. */
  get #excess(): number {
    return this.#inProgress + this.#waiting.size - PLACES;
  }

  /** Whether a request would be refused. */
  isFull(): boolean {
    const ahead = this.#excess + 1;
    if (ahead <= FEW - PLACES) return false;
    // Those in progress count as if they were answered now: an answer that takes long does not stop the line.
    const answerMs = (this.#answersMs + this.#scheduler.clock.now() - this.#since) / (this.#answers + PLACES);
    return this.#waiting.size >= LONGEST_LINE || ahead * answerMs > this.#patienceMs;
  }

  /**
   * Resolves with a place; with undefined if the request is refused, or has left the line because `gone` was aborted.
   */
  async enter(gone: AbortSignal): Promise<Place | undefined> {
    if (gone.aborted || this.isFull()) return undefined;
    const arrived = this.#scheduler.clock.now();
    if (this.#excess <= 0) this.#since = arrived;
    return new Promise((resolve) => {
      const start = () => {
        forget();
        resolve({ waitedMs: this.#scheduler.clock.now() - arrived, leave: () => this.#leave() });
      };
      const giveUp = () => {
        forget();
        if (this.#waiting.delete(start)) resolve(undefined);
      };
      const late = setTimeout(giveUp, this.#deadlineMs);
      const forget = () => {
        clearTimeout(late);
        gone.removeEventListener('abort', giveUp);
      };
      gone.addEventListener('abort', giveUp);
      this.#waiting.add(start);
      this.#startSoon();
    });
  }

  #leave(): void {
    const now = this.#scheduler.clock.now();
    if (this.#excess > 0) {
      this.#answers += 1;
      this.#answersMs += now - this.#since;
    }
    if (this.#answers >= REMEMBERED) {
      this.#answers /= 2;
      this.#answersMs /= 2;
    }
    this.#since = now;
    this.#inProgress -= 1;
    this.#startSoon();
  }

  #startSoon(): void {
    if (this.#isStarting || this.#waiting.size === 0 || this.#inProgress >= PLACES) return;
    this.#isStarting = true;
    this.#scheduler.afterArrivals(() => this.#startNext());
  }

  /** Starts the first in line and, as a step of its own, the next, while there are places. */
  #startNext(): void {
    this.#scheduler.afterTurns(() => {
      const [first] = this.#waiting;
      if (first === undefined || this.#inProgress >= PLACES) {
        this.#isStarting = false;
        return;
      }
      this.#waiting.delete(first);
      this.#inProgress += 1;
      first();
      this.#startNext();
    });
  }
}

/** The one door through which all work passes, over every transport: a line for reads, and one for writes. */
export type Admission = Readonly<Record<keyof typeof PATIENCE_MS, Line>>;

/** Creates the lines of a server. Many long writes do not keep reads waiting, nor the other way round. */
export function createAdmission(scheduler: Scheduler, deadlineMs: number): Admission {
  return {
    read: new Line(PATIENCE_MS.read, deadlineMs, scheduler),
    write: new Line(PATIENCE_MS.write, deadlineMs, scheduler),
  };
}
