import { setImmediate } from 'node:timers';

import type { Clock } from '../clock.js';

/** Steps are taken for this long in one round of the event loop, in milliseconds. A refused request waits as long. */
const SLICE_MS = 3;
/** How long what waits for arrivals waits at most, in milliseconds. */
const MOST_MS = 10;

/** Calls back once all promises settled so far, and their consequences, have been handled. */
const afterPromises = (callback: () => void) => void Promise.resolve().then(() => process.nextTick(callback));

/**
 * The order in which the work of a process shares its event loop: in steps, first in, first out, with new connections and
 * everything else in between. A process has one, with its database.
 */
export class Scheduler {
  readonly clock: Clock;
  /** Connections accepted by this process. */
  #connections = 0;
  /** When the first step of this round of the event loop began. */
  #began: number | undefined;
  /** Steps waiting for their turn, first in, first out. */
  readonly #waiting: (() => void)[] = [];
  #taking = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** To be called for each connection that a server accepts. */
  connectionAccepted(): void {
    this.#connections += 1;
  }

  /**
   * Calls back once no connection waits to be accepted, or after 10 ms. Node accepts one connection in a round of the event
   * loop: if each round did a piece of work as well, a new client would wait for as many pieces as clients came before it.
   */
  afterArrivals(callback: () => void): void {
    const until = this.clock.now() + MOST_MS;
    let before: number | undefined;
    const look = () => {
      if (this.#connections === before || this.clock.now() > until) return callback();
      before = this.#connections;
      setImmediate(look);
    };
    setImmediate(look);
  }

  /** Milliseconds since the first step of this round of the event loop, which begins with the first call. */
  #elapsed(): number {
    if (this.#began === undefined) {
      this.#began = this.clock.now();
      setImmediate(() => {
        this.#began = undefined;
      });
    }
    return this.clock.now() - this.#began;
  }

  /** Takes one step after the other, for a slice of each round of the event loop. */
  readonly #takeSteps = (): void => {
    const next = this.#waiting.shift();
    this.#taking = next !== undefined;
    if (next === undefined) return;
    this.#elapsed();
    // A step ends with the promises that it settles: its duration is known only then.
    afterPromises(() => {
      if (this.#waiting.length > 0 && this.#elapsed() >= SLICE_MS) this.afterArrivals(this.#takeSteps);
      else this.#takeSteps();
    });
    next();
  };

  /**
   * Runs a step after all steps waiting now. Batched reads wait like this, so that requests made by those steps are read
   * together.
   */
  readonly afterTurns = (step: () => void): void => {
    this.#waiting.push(step);
    if (this.#taking) return;
    this.#taking = true;
    afterPromises(this.#takeSteps);
  };

  /**
   * To be awaited between steps of long work: what follows runs when the steps of all who waited before have been taken,
   * and everything else runs in between once these have taken a slice of 3 ms. Rejects with the reason of `signal`
   * once it is aborted.
   */
  readonly takeTurn = async (signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    await new Promise<void>(this.afterTurns);
    signal?.throwIfAborted();
  };
}
