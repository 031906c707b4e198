import { describe, expect, test } from 'vitest';

import { ConsumerTrust, type ConsumerReport } from '../../src/loaders/consumer-trust.js';
import { withMapProperties } from '../../src/model/marker.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { OwnWrites } from '../../src/read/from-pages/own-writes.js';
import { PageCache, pageName } from '../../src/read/from-pages/page-cache.js';
import type { StoredPage } from '../../src/store/page/pages.js';
import { columnsOf } from '../support/page-services.js';
import { markerAt, SCOPE } from './support.js';

const GENERATION = '1';
const of = { scope: SCOPE, collection: SCOPE, generation: GENERATION };

const entries = [orderedMarker(markerAt('a', 10, 50, 1))];
const page = (begin: string, end: string | undefined, round: number): StoredPage => ({
  begin,
  end,
  round,
  lost: undefined,
  entries,
  columns: columnsOf(entries),
  bytes: 800,
});

describe('pages are trusted', () => {
  const report = (endAt: number | null, more: Partial<ConsumerReport> = {}): ConsumerReport => ({
    pages: { generation: GENERATION },
    gap: null,
    complete: 7,
    endAt,
    summariesSince: null,
    ...more,
  });

  /** A server with its own report, or with the stored one of another server. */
  function server(state: { own?: ConsumerReport; stored?: ConsumerReport; fails?: boolean }) {
    const world = { wall: 100_000, reads: 0 };
    const stored = () => {
      world.reads += 1;
      return state.fails ? Promise.reject(new Error('unavailable')) : Promise.resolve(state.stored);
    };
    const trust = new ConsumerTrust({ own: () => state.own, stored, wall: () => world.wall });
    return { trust, world, state };
  }

  test('by the server that maintains them, without a read, while it is at the end of the stream', async () => {
    const { trust, world, state } = server({ own: report(99_000) });
    expect(await trust.pages()).toMatchObject({ generation: GENERATION, endAt: 99_000 });
    world.wall = 101_001;
    expect(await trust.pages()).toBeUndefined();
    state.own = report(101_000);
    expect(await trust.pages()).toBeDefined();
    for (const more of [{ pages: null }, { gap: { since: '', reason: '' } }, { endAt: null }]) {
      state.own = report(101_000, more);
      expect(await trust.pages()).toBeUndefined();
    }
    expect(world.reads).toBe(0);
  });

  test('by any other server, which reads the report at most four times a second', async () => {
    const { trust, world, state } = server({ stored: report(98_500) });
    await Promise.all([trust.pages(), trust.pages()]);
    world.wall = 100_249;
    // Current when it was read.
    expect(await trust.pages()).toMatchObject({ endAt: 98_500 });
    expect(world.reads).toBe(1);
    world.wall = 101_000;
    expect(await trust.pages()).toBeUndefined();
    expect(world.reads).toBe(2);
    state.stored = report(102_000);
    world.wall = 102_000;
    expect(await trust.pages()).toMatchObject({ endAt: 102_000 });
    trust.forget();
    await trust.pages();
    expect(world.reads).toBe(4);
  });

  test('by none whose clock is ahead or behind by more than two seconds, or that cannot read the report', async () => {
    expect(await server({ stored: report(97_999) }).trust.pages()).toBeUndefined();
    expect(await server({ stored: report(102_001) }).trust.pages()).toBeUndefined();
    const { trust, world, state } = server({ fails: true });
    expect(await trust.pages()).toBeUndefined();
    state.fails = false;
    state.stored = report(world.wall);
    expect(await trust.pages()).toBeDefined();
  });

  test('up to a batch that was complete two seconds ago, as reads may lag', async () => {
    const { trust, world, state } = server({ own: report(100_000) });
    expect(await trust.pages()).toMatchObject({ complete: -1 });
    world.wall = 101_000;
    state.own = report(world.wall, { complete: 9 });
    await trust.pages();
    world.wall = 102_000;
    state.own = report(world.wall, { complete: 9 });
    expect(await trust.pages()).toMatchObject({ complete: 7 });
    world.wall = 103_000;
    state.own = report(world.wall, { complete: 12 });
    expect(await trust.pages()).toMatchObject({ complete: 9 });
  });
});

test('a cached page is dropped when it is written, and the result of a read in progress is not kept', () => {
  let trusted = true;
  const cache = new PageCache({ maxBytes: 1e6, trusted: () => trusted, now: () => 0 });
  const u = pageName(of.scope, of.generation, 'u');
  const before = page('u', undefined, 4);
  const token = cache.begin();
  cache.keep(u, before, token, 'parks');
  expect(cache.find(u, 'parks')).toMatchObject({ begin: 'u', end: undefined, round: 4, columns: before.columns });
  cache.changed(u, 6);
  expect(cache.find(u, 'parks')).toBeUndefined();
  cache.keep(u, before, token, 'parks');
  expect(cache.find(u, 'parks')).toBeUndefined();
  const after = page('u', 'u3', 6);
  cache.keep(u, after, token, 'parks');
  expect(cache.find(u, 'parks')).toMatchObject({ begin: 'u', end: 'u3', round: 6, columns: after.columns });
  expect(cache.find(pageName(of.scope, '2', 'u'), 'parks')).toBeUndefined();
  trusted = false;
  expect(cache.find(u, 'parks')).toBeUndefined();
  trusted = true;
  cache.clear();
  cache.keep(u, after, token, 'parks');
  expect(cache.find(u, 'parks')).toBeUndefined();
});

test('pages are the same from columns as they were read', () => {
  const cache = new PageCache({ maxBytes: 200_000, trusted: () => true, now: () => 0 });
  const pages = Array.from({ length: 100 }, (_, n) => {
    const some = Array.from({ length: 20 }, (_, index) => {
      const marker = markerAt(`${n}-${index}`, n, index, 1);
      const mapProperties = index % 3 === 0 ? { size: index, tags: ['a', n] } : { open: null };
      return orderedMarker({
        ...marker,
        mapProperties,
        complete: index % 2 === 0,
        category: index % 5 === 0 ? null : 'x',
      });
    });
    return { ...page(`u${n}`, undefined, n), entries: some, columns: columnsOf(some) };
  });
  const token = cache.begin();
  for (const one of pages) cache.keep(one.begin, one, token, SCOPE);
  const found = pages.map((one) => cache.find(one.begin, SCOPE));
  expect(found.filter((one) => one !== undefined).length).toBeGreaterThan(20);
  found.forEach((one, n) => {
    const markers = one?.entries.map(({ marker }) => withMapProperties(marker, marker.mapProperties));
    if (markers) expect(markers).toEqual(pages[n]?.entries.map(({ marker }) => marker));
  });
});

test('own writes are kept until pages include much later writes', () => {
  let wall = 10_000;
  const own = new OwnWrites(() => wall);
  const entry = orderedMarker(markerAt('a', 10, 50, 1));
  own.add(SCOPE, [{ key: 'a', mapVersion: 1, entry }]);
  wall = 12_000;
  own.add(SCOPE, [{ key: 'b', mapVersion: 2, entry: undefined }]);
  own.add(SCOPE, [{ key: 'a', mapVersion: 2, entry: undefined }]);
  const keys = (complete: number) => own.of(SCOPE, complete).map(({ key, mapVersion }) => `${key} ${mapVersion}`);
  expect(keys(14_999)).toEqual(['b 2', 'a 2']);
  expect(own.of('others', 0)).toEqual([]);
  expect(keys(15_000)).toEqual([]);
  expect(keys(0)).toEqual([]);
  own.add(SCOPE, [{ key: 'c', mapVersion: 1, entry }]);
  wall = 72_000;
  expect(keys(0)).toEqual([]);
});

test('parts of a directory are kept within a bound, and learn what has split', () => {
  const hint = (begin: string, markers = 40) => ({ begin, markers, bytes: 900 });
  const part = (begin: string, end: string) => ({ begin, end, hints: [hint(begin), hint(`${begin}1`)] });
  const name = { ...of, partition: 'u' };
  const directories = new DirectoryCache(2 * 650);
  directories.put(name, part('u', 'u3'));
  directories.put(name, part('u6', 'u~'));
  expect(directories.find(name, 'u2')).toEqual(part('u', 'u3'));
  expect(directories.find(name, 'u3')).toBeUndefined();
  expect(directories.next(name, 'u3')).toBe('u6');
  // The one that was not used for longest goes.
  directories.put(name, part('u3', 'u6'));
  expect(directories.find(name, 'u6')).toBeUndefined();
  expect(directories.all(name, 2)).toEqual([part('u', 'u3'), part('u3', 'u6')]);
  expect(directories.all(name, 1)).toEqual([]);

  directories.learn(name, [page('u', 'u1', 4), page('u1', 'u3', 4)]);
  expect(directories.find(name, 'u')).toEqual(part('u', 'u3'));
  directories.drop(SCOPE);
  expect(directories.has(name)).toBe(false);
  directories.put(name, part('u', 'u3'));
  directories.learn(name, [page('u', 'u08', 6), page('u08', 'u1', 6), page('u7', undefined, 6)]);
  const learned = [hint('u'), { begin: 'u08', markers: 1, bytes: 800 }, hint('u1')];
  expect(directories.all(name, 2)).toEqual([{ begin: 'u', end: 'u3', hints: learned }]);
});
