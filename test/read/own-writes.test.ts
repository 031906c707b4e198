import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';
import type { Collection } from '../../src/model/collection.js';
import { RecentWrites, type RecentWrite } from '../../src/pages/recent-writes.js';
import { ownWrite, OwnWrites } from '../../src/read/from-pages/own-writes.js';
import type { Item } from '../../src/store/database.js';
import type { WireImage } from '../../src/stream/change.js';
import { entryOf, PageFold } from '../../src/stream/pages/fold.js';

const keys = createKeyspace('readable');
const collection = { key: 'parks', code: null } as Collection;
const scope = keys.scope(collection);
const BEGIN = Date.parse('2026-11-29T12:00:00Z');

/** A write to the only marker: by the server whose map is looked at, or by another one. */
const write = fc.record({
  isOwn: fc.boolean(),
  deletes: fc.boolean(),
  afterMs: fc.integer({ min: 1, max: 900 }),
  /** How long a creation was under way. */
  lateMs: fc.integer({ min: 0, max: 8_000 }),
});
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

/** What the marker was after each write, at first nothing; each is somewhere else. */
function historyOf(writes: readonly Write[]) {
  const history: { readonly at: number; readonly item: Item | undefined; readonly isOwn: boolean }[] = [
    { at: BEGIN, item: undefined, isOwn: false },
  ];
  for (const { isOwn, deletes, afterMs, lateMs } of writes) {
    const { at, item: before } = history.at(-1) ?? { at: BEGIN };
    const now = at + afterMs;
    const { mv, ...same } = before ?? { life: `life ${now}`, createdAt: new Date(now - lateMs).toISOString() };
    const made = { ...same, ...keys.marker(scope, 'one'), lng: history.length, lat: 1, mv: Number(mv ?? 0) + 1 };
    history.push({ at: now, isOwn, item: deletes ? undefined : made });
  }
  return history;
}

const imageOf = (item: Item | undefined): WireImage | undefined =>
  item &&
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, typeof value === 'number' ? { N: `${value}` } : { S: value }]),
  );

test('a server shows its own last write, or a later one that was published, also if the marker was deleted and created again', () => {
  const some = fc.record({
    writes: fc.array(write, { minLength: 1, maxLength: 8 }),
    inPages: fc.nat(8),
    published: fc.tuple(fc.nat(4), fc.nat(4)),
  });
  fc.assert(
    fc.property(some, ({ writes, inPages, published }) => {
      const history = historyOf(writes);
      const last = history.length - 1;
      const paged = Math.min(inPages, last);
      const [first, second] = [
        Math.min(paged + published[0], last),
        Math.min(paged + published[0] + published[1], last),
      ];
      const fold = new PageFold({ keepsRecent: true });
      const publish = (from: number, to: number): RecentWrite[] => {
        for (let index = from + 1; index <= to; index += 1) {
          const [before, after] = [imageOf(history[index - 1]?.item), imageOf(history[index]?.item)];
          if (before || after) fold.add(keys, { scope, key: 'one', before, after });
        }
        return [...(fold.takeRecent().get(scope)?.values() ?? [])];
      };
      const laid = RecentWrites.NONE.with([
        { batch: 1, writes: publish(paged, first) },
        { batch: 2, writes: publish(first, second) },
      ]);
      let wall = BEGIN;
      const own = new OwnWrites(() => wall);
      let lastOwn = 0;
      for (const [index, { at, isOwn, item }] of history.entries()) {
        wall = at;
        const change = isOwn && ownWrite(keys, collection, { before: history[index - 1]?.item, after: item });
        if (!change) continue;
        own.add(scope, [change]);
        lastOwn = index;
      }
      const complete = history[second]?.at ?? 0;
      const recent = laid.including(own.of(scope, complete));
      const page = entryOf(keys, imageOf(history[paged]?.item));
      const isShown = page && page.marker.mapVersion > (recent.get('one')?.mapVersion ?? -1);
      const shown = (isShown ? page : recent.get('one')?.entry)?.marker.position.lng;
      const expected = history.slice(lastOwn).map(({ item }) => item?.['lng']);
      expect(expected).toContain(shown);
      if (laid.size === 0) return;
      // What was published does not show which of the two incarnations was the last one.
      const livesOf = (from: number, to: number) => history.slice(from, to + 1).map(({ item }) => item?.['life']);
      const ownLife = livesOf(lastOwn - 1, lastOwn).findLast((life) => life !== undefined);
      const isUnclear = !livesOf(paged, second).includes(ownLife) && (history[lastOwn]?.at ?? 0) + 1_000 > complete;
      if (!isUnclear) expect(shown).toBe(history[Math.max(second, lastOwn)]?.item?.['lng']);
    }),
    { numRuns: 3_000 },
  );
});

test('of own writes at the same time, the last one counts, although its answer may come first', () => {
  const own = new OwnWrites(() => BEGIN);
  const items = historyOf(
    Array.from({ length: 3 }, () => ({ isOwn: true, deletes: false, afterMs: 1, lateMs: 0 })),
  ).map(({ item }) => item);
  for (const index of [3, 2]) {
    const change = ownWrite(keys, collection, { before: items[index - 1], after: items[index] });
    own.add(scope, change ? [change] : []);
  }
  expect(own.of(scope, BEGIN + 2_000)).toMatchObject([{ mapVersion: 3, entry: { marker: { position: { lng: 3 } } } }]);
});
