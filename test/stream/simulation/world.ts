/** A random number generator that returns the same numbers for the same seed. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** An integer, both bounds included. */
  integer(least: number, most: number): number;
  happens(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** Mulberry32: small, fast and good enough to choose faults. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    integer: (least, most) => least + Math.floor(next() * (most - least + 1)),
    happens: (probability) => next() < probability,
    pick: (from) => from[Math.floor(next() * from.length)]!,
  };
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Immediates are queued together, because one turn of the event loop for each took a tenth of the time. */
const STEPS_A_TURN = 50;

/** A clock that advances only when all processes wait: events in order, each with all its immediate consequences. */
export class World {
  readonly chance: Chance;
  #now = 0;
  #order = 0;
  /** A binary heap, the next event first. */
  readonly #events: Event[] = [];

  constructor(seed: number) {
    this.chance = createChance(seed);
  }

  /** Milliseconds since the start of the world. */
  get now(): number {
    return this.#now;
  }

  schedule(afterMs: number, run: () => void): void {
    const events = this.#events;
    const event = { at: this.#now + Math.max(0, afterMs), order: (this.#order += 1), run };
    let index = events.length;
    events.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[index] = events[parent]!;
      index = parent;
    }
    events[index] = event;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.schedule(ms, resolve));
  }

  #take(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first === undefined || last === undefined || events.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1;
      if (!isBefore(events[child]!, last)) break;
      events[index] = events[child]!;
      index = child;
    }
    events[index] = last;
    return first;
  }

  /** Advances time until `done`, or by at most `limitMs`; returns whether it was done. */
  run(done: () => boolean, limitMs: number): Promise<boolean> {
    const limit = this.#now + limitMs;
    return new Promise((resolve, reject) => {
      let outcome: boolean | undefined;
      // One immediate per event: before the next one, all promises that it resolves have run their callbacks.
      const step = () => {
        if (outcome !== undefined) return;
        try {
          outcome = this.#step(done, limit);
        } catch (error) {
          outcome = false;
          reject(error);
        }
        if (outcome !== undefined) resolve(outcome);
      };
      const steps = () => {
        if (outcome !== undefined) return;
        for (let index = 0; index < STEPS_A_TURN; index += 1) setImmediate(step);
        setImmediate(steps);
      };
      steps();
    });
  }

  /** Runs the next event; if there is none, returns whether it was done. */
  #step(done: () => boolean, limit: number): boolean | undefined {
    if (done()) return true;
    const next = this.#events[0];
    if (next === undefined || next.at > limit) {
      this.#now = limit;
      return false;
    }
    this.#take();
    this.#now = next.at;
    next.run();
    return undefined;
  }
}
