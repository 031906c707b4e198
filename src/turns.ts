import { setImmediate } from 'node:timers';

import { systemClock } from './clock.js';
import { afterArrivals } from './arrivals.js';

/** Resolves when the caller may continue. Rejects if the work is to stop. */
export type Turn = () => Promise<void>;

/** Maximum time that one piece of work may block the event loop, in milliseconds. */
export const SLICE_MS = 10;

/** When the first step of this turn of the event loop began. */
let began: number | undefined;
/** Steps waiting for their turn, first in, first out. */
const waiting: (() => void)[] = [];
let taking = false;

/** Milliseconds since the first step of this turn of the event loop, which begins with the first call. */
function elapsed(): number {
  if (began === undefined) {
    began = systemClock.now();
    setImmediate(() => {
      began = undefined;
    });
  }
  return systemClock.now() - began;
}

/** Calls back once all promises settled so far, and their consequences, have been handled. */
const afterPromises = (callback: () => void) => void Promise.resolve().then(() => process.nextTick(callback));

/** Takes one step after the other, for 10 ms in each round of the event loop. */
function takeSteps(): void {
  const step = waiting.shift();
  taking = step !== undefined;
  if (step === undefined) return;
  elapsed();
  // A step ends with the promises that it settles: its duration is known only then.
  afterPromises(() => (waiting.length > 0 && elapsed() >= SLICE_MS ? afterArrivals(takeSteps) : takeSteps()));
  step();
}

/**
 * Runs a step after all steps waiting now. Batched reads wait like this, so that requests made by those steps are read
 * together.
 */
export function afterTurns(step: () => void): void {
  waiting.push(step);
  if (taking) return;
  taking = true;
  afterPromises(takeSteps);
}

/**
 * To be awaited between steps of long work: what follows runs when the steps of all who waited before have been taken,
 * and everything else runs in between once these have taken 10 ms. Rejects with the reason of `signal` once it is aborted.
 */
export async function takeTurn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>(afterTurns);
  signal?.throwIfAborted();
}

/** The result of work split into steps, with a turn after each. */
export async function inTurns<Result>(steps: Generator<void, Result, void>, turn: Turn): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await turn();
  }
}

/** Number of list items handled in one step. */
const BATCH = 64;

/** Handles each item of a list, yielding a turn after every 64. */
export async function eachInTurns<Item>(
  items: readonly Item[],
  turn: Turn,
  handle: (item: Item, index: number) => void,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index % BATCH === BATCH - 1) await turn();
    handle(item, index);
  }
}
