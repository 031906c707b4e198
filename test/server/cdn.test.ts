import { afterEach, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { tileAt, unitAt } from '../../src/geo/tiles.js';
import { createKeyspace, type KeyStyle } from '../../src/keys/keyspace.js';
import { silentLog } from '../../src/log.js';
import { decisiveBlocks, tagsAbove, zonesTag } from '../../src/map/tiles/blocks.js';
import { decisiveArea } from '../../src/map/tiles/content.js';
import { inBackground } from '../../src/server/background.js';
import { openPurging } from '../../src/server/cdn.js';
import { collectionItem, newCollection } from '../../src/store/collection/collection-item.js';
import { wireOf } from '../../src/store/request/wire.js';
import type { WireImage } from '../../src/stream/change.js';
import { markerRecord } from '../live/records.js';
import { until } from '../live/support.js';
import { fakeCloudFront } from '../support/fake-cloudfront.js';

const keys = createKeyspace('readable');
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Purging from a CloudFront of its own, by a clock that goes on by a second whenever it is waited for. */
async function open(fail?: Parameters<typeof fakeCloudFront>[0], style: KeyStyle = 'readable') {
  const cdn = await fakeCloudFront(fail);
  let time = 0;
  let complete = 0;
  /** Scopes of which nothing is applied. */
  const late = new Set<string>();
  const slept: number[] = [];
  const clock = {
    now: () => time,
    wall: () => time,
    random: () => 1,
    sleep: (ms: number) => {
      slept.push(ms);
      time += ms;
      return new Promise<void>((resolve) => setTimeout(resolve, 2));
    },
  };
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void errors.push(fields) };
  const completeAt = (scope: string) => (late.has(scope) ? -Infinity : complete);
  const { endpoint } = cdn;
  const purging = openPurging(
    { distribution: 'E1', endpoint, credentials },
    createKeyspace(style),
    completeAt,
    log,
    clock,
  );
  const running = inBackground((signal) => purging.run(signal));
  closers.push(
    () => cdn.close(),
    () => running.stop(),
  );
  let sequence = 0;
  return {
    ...cdn,
    slept,
    errors,
    purging,
    late,
    now: () => time,
    applied: (at = Infinity) => void (complete = at),
    change: (input: Partial<Parameters<typeof markerRecord>[1]>) =>
      purging.onRecord(markerRecord(keys, { sequence: String((sequence += 1)), key: 'k', ...input })),
    /** What was purged by the next call. */
    next: async () => {
      const { length } = cdn.asked;
      await until(() => cdn.asked.length > length, 2);
      return cdn.asked[length]?.paths;
    },
    /** Lets so many turns of the loop pass. */
    turns: async (count: number) => {
      const end = slept.length + count;
      await until(() => slept.length >= end, 2);
    },
  };
}

test('what records have changed is purged together, with all blocks above, once it is applied and shown', async () => {
  const { change, applied, next, turns, asked, now } = await open();
  change({ before: [13.4, 52.5], after: [13.41, 52.5] });
  change({ after: [-70, -30], scope: 'shops' });
  await turns(10);
  expect(asked).toEqual([]);
  const read = now();
  applied();
  const berlin = ['#parks/', '#parks/u', '#parks/u3', '#parks/u33', '#parks/u33d'];
  expect(await next()).toEqual([...berlin, '#shops/', '#shops/6', '#shops/66', '#shops/66w', '#shops/66wj']);
  expect(asked[0]?.distribution).toBe('E1');
  await turns(10);
  change({ before: [13.4, 52.5], after: [13.41, 52.5] });
  const noted = now();
  expect(await next()).toEqual(berlin);
  // Servers that answer from memory may show a change so late, and answers begun before are under way for up to a second.
  expect(now() - noted).toBeGreaterThan(3_500);
  expect(asked).toHaveLength(2);
  expect(read).toBeGreaterThan(2_500);
});

test('answers that were begun before a change was applied have arrived when it is purged', async () => {
  const times: number[] = [];
  const { change, applied, next, turns, asked, now } = await open(() => void times.push(now()));
  change({ after: [13.4, 52.5] });
  await turns(10);
  const from = now();
  applied();
  await next();
  expect((times[0] ?? 0) - from).toBeGreaterThanOrEqual(1_000);
  // Something else in the same collection does not pass for what was there before.
  change({ after: [-70, -30] });
  const noted = now();
  expect(await next()).toContain('#parks/66wj');
  expect((times[1] ?? 0) - noted).toBeGreaterThan(3_500);
  expect(asked).toHaveLength(2);
});

test('a collection that changes in many places is purged as a whole, and so are many collections', async () => {
  const { change, applied, next } = await open();
  applied();
  for (let lng = -170; lng < 170; lng += 10) change({ after: [lng, 10] });
  change({ after: [13.4, 52.5], scope: 'shops' });
  expect(await next()).toEqual(['#parks', '#shops/', '#shops/u', '#shops/u3', '#shops/u33', '#shops/u33d']);
  for (let n = 0; n < 60; n++) change({ after: [13.4, 52.5], scope: `s${n}` });
  expect(await next()).toEqual(['#cellport:all']);
});

/** A record of an item that is no marker. */
const recordOf = (item: object, event: 'created' | 'deleted' = 'created') => {
  const image = wireOf({ ...item })['M'] as WireImage;
  const { pk = {}, sk = {} } = image;
  return {
    sequence: '1',
    event: '',
    at: 0,
    keys: { pk, sk },
    before: event === 'created' ? undefined : image,
    after: event === 'created' ? image : undefined,
  };
};

test.each(['readable', 'compact'] as const)(
  'with %s keys, records of zones, collections and rules are purged',
  async (style) => {
    const { purging, applied, next, turns, asked } = await open(undefined, style);
    const own = createKeyspace(style);
    const collection = newCollection({ key: 'parks', name: 'Parks', code: 'Pa' }, new Date(0).toISOString());
    const scope = own.scope(collection);
    applied();
    for (const item of [own.zone(scope, 'z'), own.zoneCover(scope, 'z', 'u33')]) {
      for (const event of ['created', 'deleted'] as const) {
        purging.onRecord(recordOf(item, event));
        expect(await next()).toEqual([`#${scope}/zones`]);
      }
    }
    const item = collectionItem(own, collection);
    for (const event of ['created', 'deleted'] as const) {
      purging.onRecord(recordOf(item, event));
      purging.onRecord(recordOf(own.zone(scope, 'z')));
      expect(await next()).toEqual([`#${scope}`]);
    }
    purging.onRecord(recordOf(own.access('rules')));
    expect(await next()).toEqual(['#cellport:all']);
    const others = [own.access('key', 'a'), own.access('version'), own.counter(scope, 'marker'), own.codeClaim('Pa')];
    for (const other of [...others, own.marker(scope, 'k')]) purging.onRecord(recordOf(other));
    await turns(10);
    expect(asked).toHaveLength(7);
  },
);

test('what cannot be understood purges everything, and the reader of the stream goes on', async () => {
  const { purging, applied, next, errors } = await open(undefined, 'compact');
  applied();
  const item = collectionItem(keys, newCollection({ key: 'parks', name: 'Parks' }, new Date(0).toISOString()));
  purging.onRecord(recordOf({ ...item, ...createKeyspace('compact').collection('parks') }));
  expect(await next()).toEqual(['#cellport:all']);
  expect(errors).toHaveLength(1);
});

test('a source waits for its own stream, and is purged as a whole if several items may be the marker', async () => {
  const { purging, applied, next, change, late, turns, asked } = await open();
  const source = purging.ofSource('trucks');
  applied();
  late.add('trucks');
  source.onRecord({ ...recordOf({}), keys: {}, contentions: [] });
  source.onRecord(markerRecord(keys, { sequence: '1', key: 'k', scope: 'trucks', after: [13.4, 52.5] }));
  change({ after: [13.4, 52.5] });
  expect(await next()).toEqual(['#parks/', '#parks/u', '#parks/u3', '#parks/u33', '#parks/u33d']);
  await turns(10);
  expect(asked).toHaveLength(1);
  expect(purging.unpurgedSince()).toBeLessThan(Infinity);
  late.clear();
  expect(await next()).toEqual(['#trucks']);
  source.onOwnership(true);
  expect(await next()).toEqual(['#trucks']);
  source.onLoss('a gap');
  expect(await next()).toEqual(['#trucks']);
  await turns(3);
  expect(purging.unpurgedSince()).toBe(Infinity);
});

test('an owner that has just taken over, or has lost records, purges everything', async () => {
  const { purging, applied, next, turns, asked } = await open();
  applied();
  purging.onOwnership(true);
  expect(await next()).toEqual(['#cellport:all']);
  purging.onLoss('a gap');
  expect(await next()).toEqual(['#cellport:all']);
  purging.onOwnership(false);
  await turns(10);
  expect(asked).toHaveLength(2);
});

test('a purge that fails is repeated, after longer and longer pauses, and nothing that changes meanwhile is lost', async () => {
  let failures = 12;
  const { change, applied, next, slept, errors, asked } = await open(() =>
    failures-- > 0 ? [400, 'TooManyInvalidationsInProgress'] : undefined,
  );
  applied();
  change({ after: [13.4, 52.5] });
  await until(() => failures < 11, 2);
  change({ after: [-70, -30] });
  expect(await next()).toContain('#parks/u33d');
  expect(await next()).toContain('#parks/66wj');
  expect(asked).toHaveLength(2);
  expect(errors.length).toBeGreaterThan(3);
  expect(errors[0]).toMatchObject({ distribution: 'E1', err: { name: 'TooManyInvalidationsInProgress' } });
  expect(slept.filter((ms) => ms > 1_000)).toEqual(expect.arrayContaining([2_000, 4_000, 8_000]));
});

test('a tile of any zoom has a tag that is purged when a marker in it changes', () => {
  for (let n = 0; n < 500; n++) {
    const position = { lng: ((n * 77) % 360) - 180, lat: ((n * 31) % 170) - 85 };
    const { tags } = decisiveBlocks('parks', decisiveArea(tileAt(unitAt(position, n % 23), n % 23)));
    expect([...tags, zonesTag('parks')].length).toBeLessThanOrEqual(50);
    expect(tags.slice(0, 2)).toEqual(['cellport:all', 'parks']);
    expect(tagsAbove('parks', encode(position, 5)).some((tag) => tags.includes(tag))).toBe(true);
  }
});
