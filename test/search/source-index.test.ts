import { expect, test } from 'vitest';

import { openSourceIndex } from '../../src/search/source-index.js';
import type { StreamState } from '../../src/store/cell/stream-state.js';
import type { SourceCollection } from '../../src/store/source/source-mapping.js';
import { DERIVED_FORMAT, type StreamRecord } from '../../src/stream/change.js';
import type { StreamPort } from '../../src/stream/ports.js';
import { memoryDatabase } from '../support/memory-store.js';

/** The index of a source whose consumer has applied `applied`, or does not know the shard yet. */
function sourceIndex(records: readonly Partial<StreamRecord>[], applied: string | undefined, listedAt = 0) {
  let state = {
    layout: DERIVED_FORMAT,
    stream: 'stream',
    pages: { generation: 'g' },
    listedAt,
    shards: applied === undefined ? {} : { shard: { since: 0, after: applied } },
  } as unknown as StreamState;
  let loads = 0;
  const stream = {
    openShard: async () => 'iterator',
    readRecords: async () => ({ records, next: 'iterator' }),
  } as unknown as StreamPort;
  const collection = { key: 'shops', createdAt: '2026-11-30T00:00:00.000Z' } as SourceCollection;
  const { signal } = new AbortController();
  const load = async () => {
    loads += 1;
    return state;
  };
  return {
    ...openSourceIndex({ database: memoryDatabase(), collection, stream, load, signal }),
    /** Resolves once the state has been looked at again and again, while `work` was waiting for it. */
    waits: async (work: Promise<unknown>): Promise<void> => {
      let ended = false;
      work.then(
        () => (ended = true),
        () => (ended = true),
      );
      const before = loads;
      await expect.poll(() => loads).toBeGreaterThan(before + 1);
      expect(ended).toBe(false);
    },
    /** The consumer has read the shard up to a time, and plans to apply records up to a number. */
    skip: (since: number, to?: string): void => {
      state = {
        ...state,
        shards: { shard: { since } },
        plan: to === undefined ? null : { shard: { first: to, to } },
      };
    },
    apply: (sequence: string): void => {
      state = { ...state, listedAt: Date.now() + 120_000, shards: { shard: { since: 0, after: sequence } } };
    },
  };
}

const read = { sequence: '5', at: 0, keys: {}, before: undefined, after: undefined };

test.concurrent('pages are not read before they have what the index has followed', async () => {
  const { stream, tables, waits, apply } = sourceIndex([read], '4');
  await stream.readRecords(await stream.openShard('stream g', 'shard', { type: 'oldest' }));
  const items = tables.readItems(null);
  await waits(items);
  apply('5');
  expect(await items).toMatchObject({ items: [] });
});

test.concurrent('nor where it goes on after a restart', async () => {
  const { stream, tables, waits, apply } = sourceIndex([], '4');
  await stream.openShard('stream g', 'shard', { type: 'after', sequence: '5' });
  const items = tables.readItems(null);
  await waits(items);
  apply('5');
  expect(await items).toMatchObject({ items: [] });
});

test.concurrent('who wins is not asked before the consumer has found the shard', async () => {
  const contention = { sequence: '5', at: Date.now(), key: 'a', item: 'a', before: undefined, after: undefined };
  const record = { ...read, at: contention.at, contentions: [contention] };
  const { stream, waits, apply } = sourceIndex([record], undefined, Date.now());
  const records = stream.readRecords(await stream.openShard('stream g', 'shard', { type: 'oldest' }));
  await waits(records);
  apply('5');
  expect((await records).records).toMatchObject([{ sequence: '5', after: undefined }]);
});

test.concurrent(
  'a shard that is in no later listing is gone, and what a fill has read, the consumer skips',
  async () => {
    const { stream, tables } = sourceIndex([read], undefined, Date.now());
    await stream.readRecords(await stream.openShard('stream g', 'shard', { type: 'oldest' }));
    expect(await tables.readItems(null)).toMatchObject({ items: [] });
    const filled = sourceIndex([read], '4', Date.now());
    filled.skip(Date.now());
    await filled.stream.readRecords(await filled.stream.openShard('stream g', 'shard', { type: 'oldest' }));
    expect(await filled.tables.readItems(null)).toMatchObject({ items: [] });
  },
);

test.concurrent('what is planned is not applied yet, however long ago it was written', async () => {
  const { stream, tables, waits, apply, skip } = sourceIndex([read], '4');
  skip(Date.now(), '5');
  await stream.readRecords(await stream.openShard('stream g', 'shard', { type: 'oldest' }));
  const items = tables.readItems(null);
  await waits(items);
  apply('5');
  expect(await items).toMatchObject({ items: [] });
});
