import { systemClock } from '../clock.js';

/** Resolves when the caller may continue. Rejects if the work is to stop. */
export type Turn = () => Promise<void>;

/** The result of work split into steps, with a turn after each. */
export async function inTurns<Result>(steps: Generator<void, Result, void>, turn: Turn): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await turn();
  }
}

/** Number of list items handled before the time is looked at. */
const BATCH = 64;
/** A shorter step, in milliseconds, goes on: to let others take their turns costs more than 64 short items. */
const SHORT_MS = 0.25;

/** Handles each item of a list, yielding a turn after 64 or more that took 0.25 ms. */
export async function eachInTurns<Item>(
  items: readonly Item[],
  turn: Turn,
  handle: (item: Item, index: number) => void,
): Promise<void> {
  let index = 0;
  let began = systemClock.now();
  // Without `entries()`, which makes an array for each item.
  for (const item of items) {
    if (index % BATCH === BATCH - 1 && systemClock.now() - began >= SHORT_MS) {
      await turn();
      began = systemClock.now();
    }
    handle(item, index);
    index += 1;
  }
}
