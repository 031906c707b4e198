import { setImmediate } from 'node:timers';

/** Resolves when it is the caller's turn to continue. Rejects when the work is to be stopped. */
export type Turn = () => Promise<void>;

/** How long one piece of work may keep the event loop, in milliseconds. */
const SLICE_MS = 20;

/** When the work of this round of the event loop began, as far as it has been looked at. */
let began: number | undefined;
/** Work that has had its slice, first come, first served: one continues in each round of the event loop. */
const waiting: (() => void)[] = [];

function begin(): number {
  setImmediate(() => {
    began = undefined;
  });
  return (began = performance.now());
}

function grant(): void {
  begin();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(grant);
}

/**
 * To be awaited between steps of long work: resolves at once, or lets everything else run first if this round of the event
 * loop has taken 20 ms. Rejects with the reason of `signal` once it is aborted.
 */
export async function takeTurn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (performance.now() - (began ?? begin()) < SLICE_MS) return;
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(grant);
  });
  signal?.throwIfAborted();
}

/**
 * Runs what reads for several at once, after all who wait for their turn now: what they ask for is read with the rest,
 * as if nobody had waited.
 */
export function afterTurns(read: () => void): void {
  if (waiting.length > 0) waiting.push(read);
  else void Promise.resolve().then(() => process.nextTick(read));
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
const BATCH = 256;

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
