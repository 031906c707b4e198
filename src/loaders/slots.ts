/** Runs work when one of a fixed number of slots is free, in the order it was handed in. */
export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

/** Slots for `count` pieces of work at a time. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;

  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A slot is handed on rather than freed, so that nobody who comes now overtakes those who wait.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
