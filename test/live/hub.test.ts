import { expect, test } from 'vitest';

import { limitExceeded } from '../../src/errors.js';
import { normalizeBounds } from '../../src/geo/bounds.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import type { MarkerChange } from '../../src/live/change.js';
import { LiveHub, type HubOptions } from '../../src/live/hub.js';
import { Queue } from '../../src/live/queue.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import type { Marker } from '../../src/model/marker.js';
import { readFilter } from '../../src/read/filter.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { markerRecord } from './records.js';

const keys = createKeyspace('readable');
const parks = { key: 'parks', code: null } as Collection;
/** The hub's time at the start, in seconds since 1970. */
const START = 1_795_000_000;

function world(options: Partial<HubOptions> = {}) {
  const clock = { seconds: START };
  const hub = new LiveHub({ keys, log: silentLog, now: () => clock.seconds * 1_000, ...options });
  let sequence = 0;
  const record = (key: string, at = clock.seconds, properties = {}): StreamRecord =>
    markerRecord(keys, { sequence: String((sequence += 1)), key, at, after: [1, 1], properties });
  const open = (since?: number, area?: Parameters<typeof normalizeBounds>[1]) =>
    hub.markerChanges({
      collection: parks,
      area: area && normalizeBounds('bounds', area),
      since: since === undefined ? undefined : since * 1_000,
    });
  return { clock, hub, record, open };
}

/** The events that a reader can read right now. */
async function present(changes: AsyncIterableIterator<MarkerChange>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { value, done } = await changes.next();
    if (done === true) break;
    found.push(value.id.split('::').at(-1) ?? '');
  }
  return found;
}

test('events are emitted once, in order, to the clients that are subscribed', async () => {
  const { hub, record, open } = world();
  hub.connected();
  hub.take(record('early'));
  const changes = await open();
  const [one, two] = [record('one'), record('two')];
  for (const each of [one, two, one, two, record('three')]) hub.take(each);
  expect(await present(changes, 3)).toEqual(['one', 'two', 'three']);
});

test('what the stream has is known from the very moment since which none is missing', async () => {
  const known = START + 20.343;
  const { clock, hub, record, open } = world({
    readStream: async (onRecord) => {
      onRecord(record('one', START + 20));
      return known * 1_000;
    },
  });
  clock.seconds = START + 25;
  hub.connected();
  expect(await present(await open(known + 0.001), 1)).toEqual(['one']);
  await expect(open(known - 0.001)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { field: 'since' } });
});

/** A record of the collection's item. */
function collectionRecord(before: object | undefined, after: object | undefined): StreamRecord {
  const named = { pk: { S: keys.collection('parks').pk }, sk: { S: keys.collection('parks').sk } };
  const image = (fields: object | undefined) =>
    fields && { ...named, prefixLength: { N: '2' }, writeShards: { N: '1' }, createdAt: { S: 'first' }, ...fields };
  return { sequence: '1', event: '', at: START * 1_000, keys: named, before: image(before), after: image(after) };
}

test('subscriptions to a deleted collection end with a reason, and get nothing of another one with the same key', async () => {
  const { hub, record } = world();
  hub.connected();
  const old = { ...parks, createdAt: 'first' };
  const open = (collection: Collection) => hub.markerChanges({ collection, area: undefined, since: undefined });
  const marker = { key: 'one', incarnation: 'i' } as Marker;
  const changes = await open(old);
  const readings = await hub.readings({ collection: old, marker, since: undefined });
  const other = await open({ ...old, key: 'others' });
  hub.take(collectionRecord({}, { name: { S: 'renamed' } }));
  hub.take(record('one'));
  expect(await present(changes, 1)).toEqual(['one']);

  hub.take(collectionRecord({}, { emptying: { S: '2026-11-21T10:00:00Z' } }));
  hub.take(record('two'));
  for (const ended of [changes, readings]) {
    await expect(ended.next()).rejects.toMatchObject({ code: 'NOT_FOUND', message: /"parks" has been deleted/ });
    expect(await ended.next()).toEqual({ done: true, value: undefined });
  }
  // From a server whose copy of the collection predates its deletion.
  await expect(open(old)).rejects.toMatchObject({ code: 'NOT_FOUND' });

  hub.take(collectionRecord(undefined, { createdAt: { S: 'second' } }));
  const fresh = await open({ ...old, createdAt: 'second' });
  hub.take(record('three'));
  expect(await present(fresh, 1)).toEqual(['three']);
  const stillOpen = await Promise.race([other.next(), Promise.resolve('open')]);
  expect(stillOpen).toBe('open');
});

test('a subscription to a collection gets nothing of a former one with the same key, even with an earlier `since`', async () => {
  const { hub } = world();
  hub.connected();
  let sequence = 0;
  const take = (key: string, createdAt: string, after?: readonly [number, number]) =>
    hub.take(
      markerRecord(keys, {
        sequence: String((sequence += 1)),
        key,
        createdAt,
        at: START + 9,
        before: [1, 1],
        ...(after && { after }),
      }),
    );
  const [former, collection] = ['2026-11-21T10:00:00.000Z', { ...parks, createdAt: '2026-11-21T10:01:00.000Z' }];
  take('moved', former, [2, 2]);
  take('deleted', former);
  // From a server whose clock is behind.
  take('first', '2026-11-21T10:00:59.000Z', [2, 2]);
  const changes = await hub.markerChanges({ collection, area: undefined, since: (START + 5) * 1_000 });
  take('late', former);
  take('second', '2026-11-21T10:02:00.000Z');
  expect(await present(changes, 2)).toEqual(['first', 'second']);
});

test('recentFrom is ten seconds ago, or the earliest buffered time, without reading the stream', async () => {
  const { clock, hub, record, open } = world();
  hub.connected();
  const remembered = ((await hub.recentFrom()) ?? 0) / 1_000;
  // Times are truncated to seconds, by clocks that may differ from ours.
  expect(remembered).toBe(START + 2);
  for (let n = 0; n < 30; n += 1) {
    clock.seconds = START + n;
    hub.take(record(`at ${n}`));
  }
  const from = ((await hub.recentFrom()) ?? 0) / 1_000;
  expect(from).toBe(START + 29 - 10);
  expect(await present(await open(from), 11)).toEqual(Array.from({ length: 11 }, (_, n) => `at ${19 + n}`));
  hub.close();
  expect(await hub.recentFrom()).toBeUndefined();
});

test('since a buffered time, no event is missing and none is older', async () => {
  const { clock, hub, record, open } = world();
  hub.connected();
  for (let n = 0; n < 20; n += 1) {
    clock.seconds = START + n;
    hub.take(record(`m${n}`));
  }
  const changes = await open(START + 10);
  hub.take(record('later'));
  const expected = [...Array.from({ length: 10 }, (_, n) => `m${n + 10}`), 'later'];
  expect(await present(changes, expected.length)).toEqual(expected);
  // DynamoDB Local truncates times to minutes, so this record may be from any moment of the minute.
  hub.take(record('of this minute', START - (START % 60)));
  expect(await present(await open(START + 19), 3)).toEqual(['m19', 'later', 'of this minute']);
  // A time in the future counts as now.
  const soon = await open(START + 1_000);
  hub.take(record('next'));
  expect(await present(soon, 1)).toEqual(['next']);
});

test('a time before the connection, or already evicted, is rejected with the earliest one allowed', async () => {
  const { clock, hub, record, open } = world({ memoryBytes: 20_000 });
  hub.connected();
  await expect(open(START - 1)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { field: 'since' } });
  clock.seconds = START + 100;
  for (let n = 0; n < 39; n += 1) hub.take(record(`m${n}`, START + 100 + n, { text: 'x'.repeat(1_000) }));
  clock.seconds = START + 200;
  await expect(open(START + 10)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const refused = await open(START + 10).then(
    () => '',
    (error: Error) => error.message,
  );
  const earliest = Date.parse(/20\d\d-[^ ]*Z/.exec(refused.replace(/^.*must be /, ''))?.[0] ?? '') / 1_000;
  const changes = await open(earliest);
  const expected = Array.from({ length: START + 139 - earliest }, (_, n) => `m${earliest + n - START - 100}`);
  expect(expected.length).toBeGreaterThan(5);
  expect(await present(changes, expected.length)).toEqual(expected);
});

test('older events are read from the stream, once for all clients, and joined with the buffered ones', async () => {
  let reads = 0;
  const past: StreamRecord[] = [];
  const readStream: HubOptions['readStream'] = async (onRecord) => {
    reads += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const each of past) onRecord(each);
    return (START - 1_000) * 1_000;
  };
  const { clock, hub, record, open } = world({ readStream });
  for (let n = 0; n < 10; n += 1) past.push(record(`m${n}`, START - 10 + n));
  hub.connected();
  clock.seconds = START + 10;
  hub.take(record('live'));
  const all = await Promise.all([open(START - 5), open(START - 5), open(START - 3)]);
  expect(reads).toBe(1);
  expect(await present(all[0], 6)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'live']);
  expect(await present(all[2], 4)).toEqual(['m7', 'm8', 'm9', 'live']);
  expect(await present(await open(START - 9), 10)).toHaveLength(10);
  // It reaches back no further, and another request does not change that.
  await expect(open(START - 2_000)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(reads).toBe(1);
});

test('a stream that cannot be read in time is not read again for every client', async () => {
  let reads = 0;
  const readStream: HubOptions['readStream'] = async () => {
    reads += 1;
    return undefined;
  };
  const { clock, hub, open } = world({ readStream });
  hub.connected();
  for (let n = 0; n < 5; n += 1) await expect(open(START - 5)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(reads).toBe(1);
  clock.seconds += 61;
  await expect(open(START - 5)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(reads).toBe(2);
});

test('a disconnection ends every subscription, and clears the buffer', async () => {
  const { clock, hub, record, open } = world();
  hub.connected();
  clock.seconds += 10;
  hub.take(record('before'));
  const changes = await open(START + 5);
  expect(await present(changes, 1)).toEqual(['before']);
  const waiting = changes.next();
  hub.disconnected('for a test');
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await changes.next()).toMatchObject({ done: true });
  hub.connected();
  await expect(open(START + 5)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('a record that cannot be emitted ends subscriptions instead of being skipped, and breaks nothing else', async () => {
  const { hub, record, open } = world();
  hub.connected();
  const changes = await open();
  const waiting = changes.next();
  const odd = record('odd');
  hub.take({ ...odd, after: { ...odd.after, name: { X: 'no such type' } } });
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const again = await open();
  hub.take(record('even'));
  expect(await present(again, 1)).toEqual(['even']);
});

test('readings are emitted to the subscribers of their marker, except expired ones and those of an earlier incarnation', async () => {
  const { clock, hub } = world();
  hub.connected();
  clock.seconds += 100;
  let sequence = 0;
  const reading = (
    key: string,
    second: number,
    extra: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  ) => {
    const { pk } = keys.marker('parks', key);
    const named = { pk: { S: pk }, sk: { S: `reading::2026-11-21T10:00:0${second}.000Z` } };
    const after = { ...named, values: { M: { n: { N: String(second) } } }, of: { S: 'made' }, ...extra };
    hub.take({
      sequence: String((sequence += 1)),
      event: 'INSERT',
      at: clock.seconds * 1_000,
      keys: named,
      before: undefined,
      after,
    });
  };
  reading('a', 1);
  reading('a', 2, { ttl: { N: String(START) } });
  reading('a', 3, { of: { S: 'another incarnation' } });
  const marker = { key: 'a', incarnation: 'made' } as Marker;
  const emitted = await hub.readings({ collection: parks, marker, since: (START + 50) * 1_000 });
  reading('b', 4);
  // The stream may lag behind the new marker.
  reading('a', 4, { of: { S: 'another incarnation' } });
  reading('a', 5, { ttl: { N: String(START + 1_000) } });
  expect((await emitted.next()).value).toEqual({ at: '2026-11-21T10:00:01.000Z', values: { n: 1 } });
  expect((await emitted.next()).value).toEqual({ at: '2026-11-21T10:00:05.000Z', values: { n: 5 } });
});

test('under rows, readings end with the marker, and what was missed tells of no other marker', async () => {
  const { hub, clock } = world();
  hub.connected();
  clock.seconds += 100;
  const rows = readFilter({ properties: [{ name: 'fleet', eq: 'north' }] });
  const collection: Collection = {
    ...parks,
    mapProperties: ['fleet'],
    grant: { rows, hidden: new Set(), cursorSecret: new Uint8Array(32) },
  };
  let sequence = 0;
  const take = (key: string, former: string, fleet: string) =>
    hub.take(
      markerRecord(keys, {
        sequence: String((sequence += 1)),
        key,
        at: clock.seconds,
        before: [1, 1],
        after: [2, 2],
        former: { fleet: former },
        properties: { fleet },
      }),
    );
  const marker = { key: 'a', incarnation: 'made' } as Marker;
  const ofRows = await hub.readings({ collection, marker, since: undefined });
  const ofAll = await hub.readings({ collection: parks, marker, since: undefined });
  const waiting = ofRows.next();
  const others = ofAll.next();
  take('b', 'north', 'south');
  take('a', 'south', 'north');
  take('c', 'south', 'south');
  take('a', 'north', 'south');
  await expect(waiting).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await Promise.race([others, Promise.resolve('open')])).toBe('open');
  const missed = await hub.markerChanges({ collection, area: undefined, since: (START + 50) * 1_000 });
  const told: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { value } = await missed.next();
    told.push([value?.id, value?.kind, value?.previous?.lng ?? null, value?.marker?.position.lng ?? null]);
  }
  expect(told).toEqual([
    ['marker::parks::b', 'LEFT', 1, null],
    ['marker::parks::a', 'ENTERED', null, 2],
    ['marker::parks::a', 'LEFT', 1, null],
  ]);
  expect(await Promise.race([missed.next(), Promise.resolve('open')])).toBe('open');
});

test('a change whose rows cannot be told ends the subscription of that principal alone', async () => {
  const { hub, clock, record, open } = world();
  hub.connected();
  clock.seconds += 100;
  const rows = readFilter({ properties: [{ name: 'detail', eq: 'x' }] });
  const collection: Collection = {
    ...parks,
    mapProperties: [],
    grant: { rows, hidden: new Set(), cursorSecret: new Uint8Array(32) },
  };
  const mine = await hub.markerChanges({ collection, area: undefined, since: undefined });
  const theirs = await open();
  const drawn = record('drawn');
  hub.take({ ...drawn, after: { ...drawn.after, mc: { BOOL: false } } });
  await expect(mine.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await present(theirs, 1)).toEqual(['drawn']);
  // The same of what was missed.
  const again = await hub.markerChanges({ collection, area: undefined, since: (START + 50) * 1_000 });
  await expect(again.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a rule that throws ends the subscription of its principal alone', async () => {
  const { hub, record, open } = world();
  hub.connected();
  const broken = (): never => {
    throw new TypeError('a rule is broken');
  };
  const grant = {
    rows: { verdict: broken, passes: broken },
    hidden: new Set<string>(),
    cursorSecret: new Uint8Array(32),
  };
  const mine = await hub.markerChanges({ collection: { ...parks, grant }, area: undefined, since: undefined });
  const theirs = await open();
  for (const key of ['one', 'two']) hub.take(record(key));
  await expect(mine.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await present(theirs, 2)).toEqual(['one', 'two']);
});

test('a reader that leaves, even while it waits, is forgotten', async () => {
  let ends = 0;
  const queue = new Queue<number>(() => (ends += 1));
  const waiting = queue.next();
  await queue.return();
  expect(await waiting).toMatchObject({ done: true });
  queue.push(1, 1);
  queue.end(limitExceeded('a', 1, 1, 'b'));
  expect(await queue.next()).toMatchObject({ done: true });
  expect(ends).toBe(1);
});

test('a queue is limited in values and bytes, not counting those already read', async () => {
  for (const [values, bytes, size] of [
    [3, 1_000, 1],
    [1_000, 3, 1],
    [1_000, 299, 100],
  ] as const) {
    let ends = 0;
    const queue = new Queue<number>(() => (ends += 1), [-1].values(), { values, bytes, allBytes: 1_000 });
    for (let n = 0; n < 50; n += 1) {
      queue.push(n, size);
      if (n === 0) expect((await queue.next()).value).toBe(-1);
      expect((await queue.next()).value).toBe(n);
    }
    for (let n = 0; n < 4; n += 1) queue.push(n, size);
    expect(ends).toBe(1);
    await expect(queue.next()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(await queue.next()).toMatchObject({ done: true });
  }
});

test('of queues that together have too much, the one ends whose reader has not kept up', async () => {
  const limits = { values: 100, bytes: 1_000, allBytes: 1_500 };
  const all = { bytes: 0 };
  const ended: string[] = [];
  const open = (name: string) => new Queue<number>(() => ended.push(name), [].values(), limits, all);
  const [slow, stuck, quick] = [open('slow'), open('stuck'), open('quick')];
  stuck.push(1, 900);
  slow.push(1, 500);
  for (let n = 0; n < 10; n += 1) {
    quick.push(n, 300);
    expect((await quick.next()).value).toBe(n);
  }
  expect(ended).toEqual([]);
  stuck.push(2, 100);
  expect(ended).toEqual([]);
  stuck.push(3, 1);
  expect(ended).toEqual(['stuck']);
  await expect(stuck.next()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  slow.push(2, 500);
  await slow.return();
  expect(all.bytes).toBe(0);
});
