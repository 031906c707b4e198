import { expect, test } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import { createKeyspace } from '../../../src/keys/keyspace.js';
import type { SourceCollection } from '../../../src/store/source/source-mapping.js';
import { StreamReader } from '../../../src/stream/consume/reader.js';
import { mappedStream } from '../../../src/stream/mapped/mapped-stream.js';
import type { StreamPort } from '../../../src/stream/ports.js';
import { firstState } from '../../../src/stream/state.js';

test('records from before a scan only advance the position in the stream', async () => {
  const mapping = { table: 'shops', items: { PK: '{key}' }, position: { lng: 'lng', lat: 'lat' } };
  const source = { table: 'shops', mapping: JSON.stringify(mapping), tableKey: [{ name: 'PK', type: 'S' }] };
  const collection = { key: 'shops', code: '01', createdAt: '2026-11-28T00:00:00.000Z', source };
  const image = { PK: { S: 'a' }, lng: { N: '16.9' }, lat: { N: '52.4' } };
  const record = (sequence: string, at: number) => {
    return { sequence, event: 'INSERT', at, keys: { PK: image.PK }, before: undefined, after: image };
  };
  const records = [record('1', 1_000), record('2', 2_000)];
  const port = { readRecords: () => Promise.resolve({ records, next: 'next' }) } as unknown as StreamPort;

  const stream = mappedStream(createKeyspace('readable'), collection as unknown as SourceCollection, port, () => 2_000);
  const [passed, mapped] = (await stream.readRecords('')).records;

  expect(passed).toEqual({ ...record('1', 1_000), keys: {}, after: undefined });
  expect(mapped).toMatchObject({ sequence: '2', after: { lng: { N: '16.9' } } });
});

test('a planned batch is folded again up to the last entry of its last item, and no further', async () => {
  const mapping = { table: 'shops', items: { PK: '{key}' }, each: 'at', position: { path: 'at', as: 'lng,lat' } };
  const source = { table: 'shops', mapping: JSON.stringify(mapping), tableKey: [{ name: 'PK', type: 'S' }] };
  const collection = { key: 'shops', code: '01', createdAt: '2026-11-28T00:00:00.000Z', source };
  const keys = createKeyspace('readable');
  const records = ['1', '2', '3'].map((sequence) => {
    const PK = { S: `item ${sequence}` };
    const after = { PK, at: { L: [{ S: '1,1' }, { S: '2,2' }, { S: '3,3' }] } };
    return { sequence, event: 'INSERT', at: 1_000, keys: { PK }, before: undefined, after };
  });
  const port = {
    openShard: () => Promise.resolve('iterator'),
    readRecords: () => Promise.resolve({ records, next: 'next' }),
  } as unknown as StreamPort;
  const stream = mappedStream(keys, collection as unknown as SourceCollection, port, () => -Infinity);
  const options = { clock: systemClock, signal: new AbortController().signal, pollMs: 1 };
  const reader = new StreamReader(stream, firstState('stream', 0), keys, options);
  const { markers } = await reader.replay({ shard: { first: '1', to: '2' } });
  const replayed = new Set(markers.map(({ after }) => after?.marker.key));
  expect(replayed).toEqual(new Set(['1', '2'].flatMap((item) => [0, 1, 2].map((at) => `item ${item}/${at}`))));
});
