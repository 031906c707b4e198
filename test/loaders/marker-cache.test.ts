import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';
import { type IndexedMarker, MarkerCache } from '../../src/loaders/marker-cache.js';
import { afterRange } from '../../src/loaders/range-union.js';
import { entryChanges } from '../../src/store/marker/entry-changes.js';

const keys = createKeyspace('readable');
const parks = { collection: { key: 'parks' }, prefix: 'u0' };
const PK = 'marker::parks::u0';
const SETTLED_MS = 10_000;

/** The index entry of an item, and its image in a stream record. */
interface Entry {
  readonly geohash: string;
  readonly mapVersion: number;
  readonly name: string;
}

const sortKey = (key: string, { geohash }: Entry) => `${geohash}::${key}`;

function image(key: string, entry: Entry | undefined) {
  if (!entry) return undefined;
  return {
    pk: { S: `marker::parks::${key}` },
    sk: { S: 'self' },
    gpkA: { S: PK },
    gskA: { S: sortKey(key, entry) },
    lng: { N: '1' },
    lat: { N: '2' },
    mv: { N: String(entry.mapVersion) },
    name: { S: entry.name },
    m: { M: { deep: { L: [{ N: '1' }] } } },
    mc: { BOOL: true },
  };
}

const record = (key: string, before: Entry | undefined, after: Entry | undefined) =>
  entryChanges(image(key, before), image(key, after));

const marker = (key: string, entry: Entry): IndexedMarker => ({
  sortKey: sortKey(key, entry),
  cursorPosition: `u0${sortKey(key, entry)}`,
  marker: {
    collection: 'parks',
    key,
    position: { lng: 1, lat: 2 },
    name: entry.name,
    category: null,
    mapVersion: entry.mapVersion,
    mapProperties: { deep: [1] },
    complete: true,
  },
});

const range = (from: string, to: string) => ({ index: 'geoA' as const, pk: PK, from, to });
const stretch = (from: string, to: string) => ({ ...range(from, to), until: afterRange(to) });

function cacheAt({ maxBytes = 1e6 } = {}) {
  const clock = { now: 0, trusted: true };
  const cache = new MarkerCache({ keys, maxBytes, trusted: () => clock.trusted, now: () => clock.now });
  clock.now = SETTLED_MS;
  return { cache, clock };
}

const A: Entry = { geohash: 'aaa', mapVersion: 1, name: 'a' };
const C: Entry = { geohash: 'ccc', mapVersion: 1, name: 'c' };

describe('a marker cache', () => {
  test('reads only the gap between two cached parts, and nothing once that is read', () => {
    const { cache } = cacheAt();
    expect(cache.get(range('000', 'zzz:;'))).toEqual({ head: [], missing: stretch('000', 'zzz:;'), tail: [] });
    cache.put(parks, stretch('000', 'bbb:;'), [marker('a', A)], cache.begin());
    cache.put(parks, stretch('ccc', 'zzz:;'), [marker('c', C)], cache.begin());
    const known = cache.get(range('000', 'zzz:;'));
    expect(known).toMatchObject({ head: [marker('a', A)], tail: [marker('c', C)] });
    expect(known.missing).toMatchObject({ from: 'bbc', to: 'ccc', until: 'ccc' });
    if (known.missing) cache.put(parks, known.missing, [], cache.begin());
    expect(cache.get(range('000', 'zzz:;'))).toEqual({
      head: [marker('a', A), marker('c', C)],
      missing: undefined,
      tail: [],
    });
    expect(cache.get(range('aab', 'cca:;'))).toEqual({ head: [], missing: undefined, tail: [] });
  });

  test('applies markers created, changed, moved and deleted in the stream', () => {
    const { cache } = cacheAt();
    cache.put(parks, stretch('000', 'zzz:;'), [marker('a', A)], cache.begin());
    const all = () => cache.get(range('000', 'zzz:;')).head;
    cache.changed(record('c', undefined, C));
    expect(all()).toEqual([marker('a', A), marker('c', C)]);
    const renamed = { ...A, mapVersion: 2, name: 'b' };
    cache.changed(record('a', A, renamed));
    const moved = { ...renamed, geohash: 'ddd', mapVersion: 3 };
    cache.changed(record('a', renamed, moved));
    expect(all()).toEqual([marker('c', C), marker('a', moved)]);
    cache.changed(record('c', C, undefined));
    expect(all()).toEqual([marker('a', moved)]);
  });

  test('never replaces a newer marker from a read by an older one from the stream', () => {
    const { cache } = cacheAt();
    const newest = { ...A, mapVersion: 3, name: 'newest' };
    cache.put(parks, stretch('000', 'zzz:;'), [marker('a', newest)], cache.begin());
    cache.changed(record('a', A, { ...A, mapVersion: 2 }));
    expect(cache.get(range('000', 'zzz:;')).head).toEqual([marker('a', newest)]);
  });

  test('never changes a list that it has returned', () => {
    const { cache } = cacheAt();
    cache.put(parks, stretch('000', 'zzz:;'), [marker('a', A)], cache.begin());
    const { head } = cache.get(range('000', 'zzz:;'));
    cache.changed(record('a', A, undefined));
    expect(head).toEqual([marker('a', A)]);
  });

  test('is empty while it receives no changes, and just after it starts to', () => {
    const { cache, clock } = cacheAt();
    clock.trusted = false;
    cache.put(parks, stretch('000', 'zzz:;'), [], cache.begin());
    clock.trusted = true;
    expect(cache.get(range('000', 'zzz:;')).missing).toBeDefined();
    cache.put(parks, stretch('000', 'zzz:;'), [], cache.begin());
    expect(cache.get(range('000', 'zzz:;')).missing).toBeUndefined();
    clock.trusted = false;
    expect(cache.get(range('000', 'zzz:;')).missing).toBeDefined();
    clock.trusted = true;
    const underWay = cache.begin();
    cache.clear();
    clock.now += SETTLED_MS - 1;
    cache.put(parks, stretch('000', 'zzz:;'), [], underWay);
    cache.put(parks, stretch('000', 'zzz:;'), [], cache.begin());
    expect(cache.get(range('000', 'zzz:;')).missing).toBeDefined();
    clock.now += 1;
    cache.put(parks, stretch('000', 'zzz:;'), [], cache.begin());
    expect(cache.get(range('000', 'zzz:;')).missing).toBeUndefined();
  });

  test('keeps nothing for longer than a minute', () => {
    const { cache, clock } = cacheAt();
    cache.put(parks, stretch('000', 'zzz:;'), [], cache.begin());
    clock.now += 59_999;
    expect(cache.get(range('000', 'zzz:;')).missing).toBeUndefined();
    clock.now += 1;
    expect(cache.get(range('000', 'zzz:;')).missing).toBeDefined();
  });

  test('stays within its size in bytes, evicts the least recently used, and keeps nothing at 0', () => {
    const { cache } = cacheAt({ maxBytes: 20_000 });
    const digits = '0123456789bcdefghjkmnpqrstuvwxyz';
    const parts = Array.from({ length: 1_024 }, (_, i) => `${digits.charAt(i >> 5)}${digits.charAt(i & 31)}0`);
    const known = (part: string) => cache.get(range(part, `${part}:;`)).missing === undefined;
    for (const part of parts) {
      cache.put(parks, stretch(part, `${part}:;`), [marker('a', { ...A, geohash: part })], cache.begin());
      expect(known('000')).toBe(true);
    }
    const kept = parts.filter(known).length;
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(40);
    // A part larger than the whole cache is not kept.
    const many = Array.from({ length: 100 }, (_, index) => marker(`k${index}`, A));
    cache.put(parks, stretch('aaa', 'aaa:;'), many, cache.begin());
    expect(known('aaa')).toBe(false);
    const off = cacheAt({ maxBytes: 0 }).cache;
    off.put(parks, stretch('000', 'zzz:;'), [], off.begin());
    off.changed(record('a', undefined, A));
    expect(off.get(range('000', 'zzz:;')).missing).toBeDefined();
  });

  test('keeps no read that may lag behind evicted changes', () => {
    const { cache, clock } = cacheAt();
    for (let index = 0; index < 100_001; index++) cache.changed(record(`k${index}`, undefined, C));
    clock.now += 1;
    cache.put(parks, stretch('000', 'aaa:;'), [], cache.begin());
    expect(cache.get(range('000', 'aaa:;')).missing).toBeDefined();
    clock.now += 2 * SETTLED_MS;
    cache.put(parks, stretch('000', 'aaa:;'), [], cache.begin());
    expect(cache.get(range('000', 'aaa:;')).missing).toBeUndefined();
  });

  test('matches the table whatever the order of writes, lagging reads and records', () => {
    const GEOHASHES = ['aaa', 'bbb', 'bbc', 'ddd'];
    const BOUNDS = ['000', 'aaa', 'bbb', 'bbc', 'ddd', 'zzz'];
    const key = fc.constantFrom('k', 'l', 'm');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('write' as const),
        key,
        /** The new position; undefined to delete the marker. */
        to: fc.constantFrom(...GEOHASHES, undefined),
        indexLag: fc.integer({ min: 0, max: 5_000 }),
        streamLag: fc.integer({ min: 0, max: 3_000 }),
      }),
      fc.record({
        kind: fc.constant('read' as const),
        from: fc.constantFrom(...BOUNDS),
        to: fc.constantFrom(...BOUNDS),
        takes: fc.integer({ min: 0, max: 4_000 }),
        /** Whether it ends at its first marker. */
        cut: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 100, 1_000, 15_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { cache, clock } = cacheAt();
        const truth = new Map<string, Entry>();
        const index = new Map<string, Entry>();
        const waiting = new Map<string, number>();
        /** When the index and the stream show the latest write of a key. */
        const indexAt = new Map<string, number>();
        const streamAt = new Map<string, number>();
        let events: { readonly at: number; readonly happen: () => void }[] = [];
        const later = (at: number, happen: () => void) => {
          events = [...events, { at, happen }].sort((a, b) => a.at - b.at);
        };
        const pass = (ms: number) => {
          const end = clock.now + ms;
          for (let next = events[0]; next && next.at <= end; next = events[0]) {
            events = events.slice(1);
            clock.now = next.at;
            next.happen();
          }
          clock.now = end;
        };
        const inOrder = (times: Map<string, number>, name: string, lag: number) => {
          const at = Math.max(times.get(name) ?? 0, clock.now + lag);
          times.set(name, at);
          return at;
        };

        for (const now of steps) {
          if (now.kind === 'wait') pass(now.ms);
          else if (now.kind === 'write') {
            const before = truth.get(now.key);
            const after = now.to && {
              geohash: now.to,
              mapVersion: (before?.mapVersion ?? 0) + 1,
              name: String(Math.floor(clock.now)),
            };
            if (after) truth.set(now.key, after);
            else truth.delete(now.key);
            waiting.set(now.key, (waiting.get(now.key) ?? 0) + 1);
            later(inOrder(indexAt, now.key, now.indexLag), () => {
              if (after) index.set(now.key, after);
              else index.delete(now.key);
            });
            later(inOrder(streamAt, now.key, now.streamLag), () => {
              cache.changed(record(now.key, before, after || undefined));
              waiting.set(now.key, (waiting.get(now.key) ?? 0) - 1);
            });
          } else {
            const { missing } = cache.get(range(now.from, `${now.to}:;`));
            if (!missing) continue;
            const token = cache.begin();
            const found = [...index]
              .map(([name, entry]) => marker(name, entry))
              .filter((one) => missing.from <= one.sortKey && one.sortKey < missing.until)
              .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
            const [first] = found;
            const cut = now.cut && first ? { until: `${first.sortKey}\0`, markers: [first] } : { markers: found };
            later(clock.now + now.takes, () => cache.put(parks, { ...missing, ...cut }, cut.markers, token));
          }
          pass(0);
          const known = cache.get(range('000', 'zzz:;'));
          const settled = (one: IndexedMarker) => (waiting.get(one.marker.key) ?? 0) === 0;
          const isMissing = ({ sortKey: at }: IndexedMarker) =>
            known.missing !== undefined && known.missing.from <= at && at < known.missing.until;
          const expected = [...truth]
            .map(([name, entry]) => marker(name, entry))
            .filter((one) => settled(one) && !isMissing(one))
            .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
          expect([...known.head, ...known.tail].filter(settled)).toEqual(expected);
        }
      }),
      { numRuns: Number(process.env['CELLPORT_RUNS'] ?? 15) * 40 },
    );
  });
});
