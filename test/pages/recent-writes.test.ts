import fc from 'fast-check';
import { expect, test } from 'vitest';

import { encode, LONGEST_Z } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { RecentWrites, type RecentWrite } from '../../src/pages/recent-writes.js';

const LNGS = [-180, -1e-6, 0, 11.25, 180];

function writeOf(key: string, mapVersion: number, lng: number | undefined): RecentWrite {
  if (lng === undefined) return { key, mapVersion, entry: undefined };
  const position = { lng, lat: 0 };
  const geohash = encode(position, LONGEST_Z);
  const drawn = { name: null, category: null, mapProperties: {}, complete: true };
  return { key, mapVersion, entry: orderedMarker({ collection: 'c', key, position, geohash, mapVersion, ...drawn }) };
}

const write = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  mapVersion: fc.integer({ min: 1, max: 5 }),
  lng: fc.option(fc.constantFrom(...LNGS), { nil: undefined }),
});
const parts = fc.array(fc.record({ more: fc.integer({ min: 0, max: 2 }), writes: fc.array(write, { maxLength: 4 }) }), {
  maxLength: 8,
});
const shown = (entries: readonly { readonly position: string }[]) =>
  entries.map(({ position }) => position).sort(compareBytes);

test('of the writes that pages lack, the last one of each marker counts, with the greatest version so far', () => {
  fc.assert(
    fc.property(parts, fc.integer({ min: 0, max: 10 }), fc.nat(4), fc.nat(4), (all, complete, from, to) => {
      let [recent, batch] = [RecentWrites.NONE, 0];
      const left: { batch: number; write: RecentWrite }[] = [];
      for (const { more, writes } of all) {
        batch += more;
        const made = writes.map(({ key, mapVersion, lng }) => writeOf(key, mapVersion, lng));
        recent = recent.with([{ batch, writes: made }]);
        left.push(...made.map((one) => ({ batch, write: one })));
      }
      const kept = recent.after(complete);
      const expected = new Map<string, RecentWrite | undefined>();
      for (const key of 'abcd') {
        const last = left.filter(({ write: one }) => one.key === key).at(-1);
        expected.set(key, last && last.batch > complete ? last.write : undefined);
      }
      for (const [key, last] of expected) {
        expect(kept.get(key)?.entry).toBe(last?.entry);
        const versions = left.filter(({ write: one }) => one.key === key).map(({ write: one }) => one.mapVersion);
        expect(kept.get(key)?.mapVersion).toBe(last && Math.max(...versions));
      }
      const entries = [...expected.values()].flatMap((last) => last?.entry ?? []);
      expect(kept.size).toBe([...expected.values()].filter((last) => last !== undefined).length);
      expect(shown(kept.between('', undefined))).toEqual(shown(entries));
      const [low, high] = [LNGS[from] ?? 0, LNGS[to] ?? 0]
        .map((lng) => encode({ lng, lat: 0 }, LONGEST_Z))
        .sort(compareBytes);
      const within = entries.filter(
        ({ position }) => compareBytes(position, low ?? '') >= 0 && compareBytes(position, high ?? '') < 0,
      );
      expect(shown(kept.between(low ?? '', high))).toEqual(shown(within));
    }),
    { numRuns: 1_000 },
  );
});

test('of writes in no particular order, the newest counts, and an older one never does', () => {
  const published = RecentWrites.NONE.with([{ batch: 3, writes: [writeOf('a', 4, 0), writeOf('b', 2, 0)] }]);
  const all = published.including([writeOf('b', 3, 180), writeOf('b', 3, undefined), writeOf('a', 3, 180)]);
  expect(all.get('a')?.entry?.marker.position.lng).toBe(0);
  expect(all.get('b')).toMatchObject({ mapVersion: 3, entry: undefined });
  // What is no longer there stays what it was for a search that has begun.
  expect(published.get('b')?.entry?.marker.position.lng).toBe(0);
});

test('what has expired counts as deleted, from then on', () => {
  const { entry, ...write } = writeOf('a', 4, 0);
  const expiring = { ...write, entry: entry && orderedMarker({ ...entry.marker, expiresAt: 1_000 }) };
  const recent = RecentWrites.NONE.with([{ batch: 3, writes: [expiring, writeOf('b', 1, 0)] }]);
  expect(recent.alive(999)).toBe(recent);
  const alive = recent.alive(1_000);
  expect(alive.get('a')).toMatchObject({ mapVersion: 4, entry: undefined });
  expect(shown(alive.between('', undefined))).toEqual([writeOf('b', 1, 0).entry?.position]);
});
