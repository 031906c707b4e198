import { setImmediate } from 'node:timers';

import { afterArrivals } from './arrivals.js';

/** Resolves when it is the caller's turn to continue. Rejects when the work is to be stopped. */
export type Turn = () => Promise<void>;

/** How long one piece of work may keep the event loop, in milliseconds. */
const SLICE_MS = 10;

/** When the first step of this round of the event loop began. */
let began: number | undefined;
/** Steps that wait for their turn, first come, first served. */
const waiting: (() => void)[] = [];
let taking = false;

/** Milliseconds since the first step of this round, which begins with the first call. */
function elapsed(): number {
  if (began === undefined) {
    began = performance.now();
    setImmediate(() => {
      began = undefined;
    });
  }
  return performance.now() - began;
}

/** Calls back once every promise that is settled by now, and what follows from it, has been handled. */
const afterPromises = (callback: () => void) => void Promise.resolve().then(() => process.nextTick(callback));

/** Takes one step after the other, for 10 ms in each round of the event loop. */
function takeSteps(): void {
  const step = waiting.shift();
  taking = step !== undefined;
  if (step === undefined) return;
  elapsed();
  // The step ends with the promises that it settles: only then is it known how long it took.
  afterPromises(() => (waiting.length > 0 && elapsed() >= SLICE_MS ? afterArrivals(takeSteps) : takeSteps()));
  step();
}

/**
 * Runs a step after all that wait by now. What reads for several at once waits like this, so that whatever they ask for
 * is read together.
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

/** The result of work in steps, with a turn after each. */
export async function inTurns<Result>(steps: Generator<void, Result, void>, turn: Turn): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await turn();
  }
}

/** How many items of a list are handled in one step. */
const BATCH = 64;

/** Handles each item of a list, with a turn after every few. */
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
