import { expect, test } from 'vitest';

import type { SearchQuery, SearchReader } from '../../src/search/engine.js';
import { inLine } from '../../src/search/line.js';

const named = (word: string): SearchQuery => ({ words: [word], scopes: undefined, area: undefined, near: undefined });

/** A reader whose calls end when they are let go, in the order in which they began. */
function heldReader() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const call = async ({ words: [word = ''] }: SearchQuery) => {
    begun.push(word);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  const reader = {
    count: (query: SearchQuery) => call(query).then(() => 0),
    search: (query: SearchQuery) => call(query).then(() => []),
  } as unknown as SearchReader;
  const letGo = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { reader, begun, letGo };
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a request that searches a hundred times delays another by one search', async () => {
  const { reader, begun, letGo } = heldReader();
  const line = inLine(reader, 1);
  const greedy = new AbortController().signal;
  const counts = times(100).map(() => line.count(named('greedy'), greedy));
  const other = line.search(named('other'), { after: undefined, limit: 5 }, new AbortController().signal);
  while (!begun.includes('other')) await letGo();
  expect(begun).toEqual(['greedy', 'other']);
  for (const _ of times(101)) await letGo();
  await Promise.all([...counts, other]);
  expect(begun).toHaveLength(101);
});

test('one request has one search in progress, and all together as many as the engine serves', async () => {
  const { reader, begun, letGo } = heldReader();
  const line = inLine(reader, 3);
  const requests = times(4).map(() => new AbortController().signal);
  const counts = requests.flatMap((signal, index) => times(2).map(() => line.count(named(String(index)), signal)));
  await letGo();
  expect(begun.slice(0, 3)).toEqual(['0', '1', '2']);
  for (const _ of times(8)) await letGo();
  await Promise.all(counts);
  expect(begun).toEqual(['0', '1', '2', '3', '0', '1', '2', '3']);
});

test('searches that wait when their request ends are not made', async () => {
  const { reader, begun, letGo } = heldReader();
  const line = inLine(reader, 1);
  const request = new AbortController();
  const [first, ...rest] = times(3).map(() => line.count(named('a'), request.signal));
  await letGo();
  request.abort(new Error('too late'));
  const outcomes = Promise.allSettled(rest);
  await letGo();
  await first;
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(begun).toEqual(['a']);
});
