import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { mapAhead, merged } from '../../src/store/request/pacing.js';
import { openRecount } from '../../src/stream/recount/reads.js';
import { interceptCalls } from '../support/faults.js';
import { memoryDatabase } from '../support/memory-store.js';

/** Rejections that nothing has handled by the next turn of the event loop, with which Node would end the process. */
let unhandled: unknown[] = [];
let others: NodeJS.UnhandledRejectionListener[] = [];
const note = (error: unknown) => void unhandled.push(error);

beforeEach(() => {
  unhandled = [];
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
  for (const other of others) process.on('unhandledRejection', other);
});

const FAILURE = new Error('DynamoDB did not answer');

/** A database in which each segment's first page is followed by one that fails, while the consumer has the first. */
function failingScans() {
  const database = memoryDatabase();
  interceptCalls(database, 'Scan', async ({ ExclusiveStartKey: after }) => {
    if (after !== undefined) throw FAILURE;
    const key = { pk: { S: 'a' }, sk: { S: 'a' } };
    return { Items: [key], LastEvaluatedKey: key };
  });
  return openRecount(database, 'cells');
}

async function* twoPages() {
  yield 1;
  throw FAILURE;
}

const READERS: Readonly<Record<string, () => AsyncIterable<unknown>>> = {
  'all markers': () => failingScans().scanMarkers(),
  'all derived items': () => failingScans().listDerived(),
  'merged readers': () => merged([twoPages(), twoPages()]),
  'results of work that is ahead': () =>
    mapAhead([1, 2, 3], 2, async (page) => {
      if (page > 1) throw FAILURE;
      return page;
    }),
};

describe.each(Object.entries(READERS))('a reader of %s', (_, open) => {
  test('throws the failure of the next page when that is asked for, not while its consumer is busy', async () => {
    let pages = 0;
    const reading = async () => {
      for await (const page of open()) {
        expect(page).toBeDefined();
        pages += 1;
        await setTimeout(20);
      }
    };
    await expect(reading()).rejects.toBe(FAILURE);
    expect(pages).toBeGreaterThan(0);
    await setTimeout(1);
    expect(unhandled).toEqual([]);
  });

  test('leaves nothing behind if its consumer stops', async () => {
    for await (const page of open()) {
      expect(page).toBeDefined();
      break;
    }
    await setTimeout(20);
    expect(unhandled).toEqual([]);
  });
});

test('merged readers yield everything that each of them yields, in its order', async () => {
  async function* pages(name: string, count: number, ms: number) {
    for (let page = 0; page < count; page++) {
      await setTimeout(ms);
      yield `${name}${page}`;
    }
  }
  const all: string[] = [];
  for await (const page of merged([pages('a', 3, 3), pages('b', 0, 1), pages('c', 5, 1)])) all.push(page);
  expect(all.filter((page) => page.startsWith('a'))).toEqual(['a0', 'a1', 'a2']);
  expect(all.filter((page) => page.startsWith('c'))).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
});
