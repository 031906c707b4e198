import { expect, test } from 'vitest';

import { createKeyspace } from '../../../src/keys/keyspace.js';
import type { SourceCollection } from '../../../src/store/source/source-mapping.js';
import { mappedStream } from '../../../src/stream/mapped/mapped-stream.js';
import type { StreamPort } from '../../../src/stream/ports.js';

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
