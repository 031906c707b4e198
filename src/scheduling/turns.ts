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

/** Number of list items handled in one step. */
const BATCH = 64;

/** Handles each item of a list, yielding a turn after every 64. */
export async function eachInTurns<Item>(
  items: readonly Item[],
  turn: Turn,
  handle: (item: Item, index: number) => void,
): Promise<void> {
  let index = 0;
  // Without `entries()`, which makes an array for each item.
  for (const item of items) {
    if (index % BATCH === BATCH - 1) await turn();
    handle(item, index);
    index += 1;
  }
}
