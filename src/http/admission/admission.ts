import { afterArrivals } from '../../arrivals.js';
import { systemClock } from '../../clock.js';
import { HeavyRequests } from './heavy-requests.js';
import { LightRequests } from './light-requests.js';
import { type ServerLoad, Slots } from './slots.js';

/** A request that is being worked on. */
export interface AdmittedRequest {
  /** Call once, when the work is done. */
  leave(): void;
}

/** Decides which requests start now, wait for a moment, or are refused. */
export interface Admission {
  /** Resolves with a place, or undefined if the request must be refused; `document` identifies requests of one kind. */
  enter(document: string): Promise<AdmittedRequest | undefined>;
  /** Whether a request of unknown kind would be refused. */
  isFull(): boolean;
  /** Adapts the number of slots; call about ten times a second while there is work. */
  adjust(load: ServerLoad): void;
}

/** How admission measures time, and lets the event loop handle arrived requests before it calls back. */
export interface Turns {
  readonly now: () => number;
  readonly later: (callback: () => void) => void;
}

const EVENT_LOOP: Turns = { now: () => systemClock.now(), later: afterArrivals };

/**
 * Admits as much as keeps the event loop and the database responsive. A request that would wait longer than an answer
 * takes is refused at once, so that admitted requests are answered in time under any load; while some are refused,
 * others hardly wait.
 *
 * One request starts in each turn of the event loop, or several light ones. Otherwise one turn would answer all
 * requests that arrived during the previous one, and none could be refused before that.
 *
 * The simulation in test/http/admission.test.ts and `npm run bench -- admission` determined the constants of this folder.
 */
export class AdaptiveAdmission implements Admission {
  readonly #turns: Turns;
  readonly #slots = new Slots();
  readonly #light = new LightRequests();
  readonly #heavy: HeavyRequests;
  #isStarting = false;
  #wasLight = false;

  constructor(turns: Turns = EVENT_LOOP) {
    this.#turns = turns;
    this.#heavy = new HeavyRequests(this.#slots, turns.now);
  }

  async enter(document: string): Promise<AdmittedRequest | undefined> {
    const { now } = this.#turns;
    const expectedMs = this.#light.expected(document);
    const isLight = this.#light.isLight(document);
    const starting = await this.#wait(isLight, expectedMs);
    if (starting === 0) return undefined;
    const began = now();
    return {
      leave: () => {
        const ms = now() - began;
        // Light requests run one after the other; all but the first would seem to take longer.
        this.#light.took(document, isLight ? ms / starting : ms);
        if (isLight) return;
        this.#heavy.leave(ms);
        this.#startNext();
      },
    };
  }

  isFull(): boolean {
    return this.#heavy.isFull();
  }

  adjust(load: ServerLoad): void {
    this.#slots.adjust(load);
    this.#heavy.refuseLate();
    this.#startNext();
  }

  /** Resolves when a request may start, with the number of requests that start with it; with 0 if it is refused. */
  #wait(isLight: boolean, expectedMs: number): Promise<number> {
    return new Promise((admit) => {
      const waits = isLight ? this.#light.add(expectedMs, admit) : this.#heavy.add(admit);
      if (waits) return this.#startNext();
      if (isLight) this.#heavy.countRefusal();
      admit(0);
    });
  }

  /** Starts requests in the next turn, if any can start, and so on. */
  #startNext(): void {
    if (this.#isStarting || !(this.#light.areWaiting || this.#heavy.canStart)) return;
    this.#isStarting = true;
    this.#turns.later(() => {
      this.#isStarting = false;
      this.#heavy.refuseLate();
      // In separate turns, because the measured time of a light request would include that of one that starts with it.
      this.#wasLight = !this.#wasLight && this.#light.start();
      if (!this.#wasLight) this.#heavy.start();
      this.#startNext();
    });
  }
}
