import { afterEach, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { tileAt, unitAt } from '../../src/geo/tiles.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { silentLog } from '../../src/log.js';
import { decisiveBlocks, tagsAbove } from '../../src/map/tiles/blocks.js';
import { decisiveArea } from '../../src/map/tiles/content.js';
import { openPurging } from '../../src/server/cdn.js';
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
async function open(fail?: Parameters<typeof fakeCloudFront>[0]) {
  const cdn = await fakeCloudFront(fail);
  let time = 0;
  let complete = 0;
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
  const { endpoint } = cdn;
  const purging = openPurging({ distribution: 'E1', endpoint, credentials }, keys, () => complete, log, clock);
  closers.push(
    () => cdn.close(),
    () => purging.stop(),
  );
  let sequence = 0;
  return {
    ...cdn,
    slept,
    errors,
    purging,
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
  // Servers that answer from memory may show a change so late.
  expect(now() - noted).toBeGreaterThan(2_500);
  expect(asked).toHaveLength(2);
  expect(read).toBeGreaterThan(2_500);
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
    expect(tags.length).toBeLessThanOrEqual(50);
    expect(tags.slice(0, 2)).toEqual(['cellport:all', 'parks']);
    expect(tagsAbove('parks', encode(position, 5)).some((tag) => tags.includes(tag))).toBe(true);
  }
});
