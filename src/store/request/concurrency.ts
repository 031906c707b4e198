/**
 * Runs `work` over all items, at most `limit` at a time, and gives the results in the order of the items. The first
 * failure stops what has not begun, and is thrown when what has begun is over: nothing goes on behind the caller's back.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  async function worker(): Promise<void> {
    while (next < items.length && failure === undefined) {
      const index = next;
      next += 1;
      try {
        // `next` was below the length, so there is an item.
        results[index] = await work(items[index] as T, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
  return results;
}

/** Runs work, at most `limit` at a time whoever hands it in; the rest waits in the order in which it came. */
export function lanes(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = limit;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/**
 * The results of `work` over items that come one after the other, in their order. Of items that are begun and not taken
 * yet there are never more than `limit`, and none is asked for before one of them is taken. Whoever stops early waits
 * until what has begun is over.
 */
export async function* mapAhead<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const begun: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Thrown when its turn comes, not before.
      result.catch(() => undefined);
      begun.push(result);
      if (begun.length < limit) continue;
      yield await (begun[0] as Promise<R>);
      void begun.shift();
    }
    for (; begun.length > 0; void begun.shift()) yield await (begun[0] as Promise<R>);
  } finally {
    await Promise.allSettled(begun);
  }
}

/** The list in pieces of `size`, the last one shorter. */
export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}
