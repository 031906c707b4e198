import { expect, test } from 'vitest';

import { IndexFull, type SearchChange } from '../../src/search/engine.js';
import { openMemoryEngine } from '../../src/search/memory/memory-engine.js';
import { describeEngine } from './contract.js';
import { documentOf } from './documents.js';

describeEngine('memory', () => Promise.resolve(openMemoryEngine(() => Date.now())));

const put = (key: string, more = {}): SearchChange => ({ type: 'put', document: documentOf(key, more) });
const EVERYTHING = { words: [], scopes: undefined, area: undefined, near: undefined };

test('an index in memory refuses more documents than it may hold, and keeps those that it has', async () => {
  const engine = openMemoryEngine(() => 0, { documents: 2, bytes: 1_000_000 });
  await engine.write([put('a'), put('b')], 'two');
  await expect(engine.write([put('c')], 'three')).rejects.toThrow(IndexFull);
  await engine.write([put('a', { name: 'Alder', version: 2 })], 'again');
  expect([await engine.count(EVERYTHING), await engine.checkpoint()]).toEqual([2, 'again']);
});

test('an index in memory forgets deleted items after 48 hours', async () => {
  let now = 0;
  const engine = openMemoryEngine(() => now, { documents: 1, bytes: 1_000_000 });
  const { key, incarnation } = documentOf('a');
  await engine.write([put('a'), { type: 'remove', key, incarnation }], 'gone');
  await expect(engine.write([put('b')], 'too many')).rejects.toThrow(IndexFull);
  now += 49 * 3_600_000;
  await engine.write([], 'later');
  await engine.write([put('b')], 'room');
  expect(await engine.count(EVERYTHING)).toBe(1);
});
