import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { compareBytes } from '../../src/keys/byte-order.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { shardOf } from '../../src/keys/shard.js';
import { someOf } from '../support/rounds.js';
import { byBytes, code, geohash, isBetween, nasty } from './nasty.js';

const STYLES = ['readable', 'compact'] as const;
const collection = { key: 'parks', code: 'Sh' };

describe.each(STYLES)('%s keys', (style) => {
  const keys = createKeyspace(style);
  const scope = style === 'readable' ? nasty : code;

  test('a marker key survives a round trip, for any names', () => {
    fc.assert(
      fc.property(scope, nasty, (of, key) => {
        const made = keys.marker(of, key);
        expect(keys.parseMarker(made)).toEqual({ scope: of, key });
        expect(keys.parseDocumentId(keys.documentId(made))).toEqual(made);
      }),
    );
  });

  test('only `self` is the marker; its other items are identified too', () => {
    const { pk } = keys.marker(keys.scope(collection), 'a');
    expect(keys.parseMarker({ pk, sk: 'reading::2026-11-21T10:48:31.000Z' })).toBeUndefined();
    expect(keys.isUnderMarker({ pk, sk: 'reading::2026-11-21T10:48:31.000Z' })).toBe(true);
    expect(byBytes('reading::2026-11-21T10:48:31.000Z', 'self')).toBeLessThan(0);
    for (const other of [
      keys.collection('parks'),
      keys.cell(keys.scope(collection), 'gcp'),
      keys.streamState('cells'),
    ]) {
      expect(keys.isUnderMarker(other)).toBe(false);
      expect(keys.parseMarker(other)).toBeUndefined();
    }
  });

  test('readings sort by time, before their marker, and their keys survive a round trip', () => {
    const instant = fc
      .date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map((date) => date.toISOString());
    fc.assert(
      fc.property(scope, nasty, instant, instant, instant, (of, key, one, from, to) => {
        const made = keys.reading({ scope: of, key }, one);
        const self = keys.marker(of, key);
        expect(keys.parseReading(made)).toEqual({ scope: of, key, instant: one });
        expect(keys.parseReading(self)).toBeUndefined();
        expect(made.pk).toBe(self.pk);
        expect(byBytes(made.sk, self.sk)).toBeLessThan(0);
        const between = (a: string | undefined, b: string | undefined) =>
          isBetween(made.sk, keys.readingRange({ scope: of, key }, a, b));
        expect(between(undefined, undefined)).toBe(true);
        expect(between(from, to)).toBe(Date.parse(from) <= Date.parse(one) && Date.parse(one) <= Date.parse(to));
        expect(between(undefined, to)).toBe(Date.parse(one) <= Date.parse(to));
        expect(isBetween(self.sk, keys.readingRange({ scope: of, key }, undefined, undefined))).toBe(false);
      }),
    );
  });

  test('a collection is parsed from its own key only', () => {
    fc.assert(
      fc.property(nasty, (key) => {
        expect(keys.parseCollection(keys.collection(key))).toBe(key);
        expect(keys.collection(key).pk).toBe(keys.collectionsPartition);
      }),
    );
    expect(keys.parseCollection(keys.codeClaim('Sh'))).toBeUndefined();
    expect(keys.parseCollection(keys.marker(keys.scope(collection), 'parks'))).toBeUndefined();
  });

  test('a cell of any length is parsed from its own key only', () => {
    const any = fc.integer({ min: 0, max: 12 }).chain(geohash);
    fc.assert(
      fc.property(scope, any, (of, hash) => {
        const key = keys.cell(of, hash);
        expect(keys.parseCell(key)).toEqual({ scope: of, geohash: hash });
        expect(keys.parseCell({ ...key, sk: `${key.sk}0` })).toBeUndefined();
        expect(keys.parseCell({ ...key, pk: `${key.pk}::` })).toBeUndefined();
      }),
    );
    expect(keys.parseCell(keys.marker(keys.scope(collection), 'self'))).toBeUndefined();
  });

  test('keys of zones and their covers survive a round trip, and are not markers', () => {
    fc.assert(
      fc.property(scope, nasty, geohash(5), (of, key, hash) => {
        const zone = keys.zone(of, key);
        expect(keys.parseZone(zone)).toEqual({ scope: of, key });
        expect(zone.pk).toBe(keys.zonesPartition(of));
        const cover = keys.zoneCover(of, key, hash);
        expect(keys.parseZoneCover(cover)).toEqual({ scope: of, key, geohash: hash });
        expect(cover.pk).toBe(keys.zoneCoversPartition(of, key));
        for (const one of [zone, cover]) {
          expect(keys.parseMarker(one)).toBeUndefined();
          expect(keys.isUnderMarker(one)).toBe(false);
        }
        expect(keys.parseZone(cover)).toBeUndefined();
        expect(keys.parseZoneCover(zone)).toBeUndefined();
      }),
    );
  });

  test('a range of zones contains exactly the covers in its cells', () => {
    const cells = fc
      .integer({ min: 1, max: 5 })
      .chain((length) => fc.tuple(geohash(length), geohash(length), geohash(length)));
    fc.assert(
      fc.property(cells, nasty, ([a, b, other], key) => {
        const [first = '', to = ''] = [a, b].sort(byBytes);
        // Covers of one partition share all but their last three characters.
        const prefix = first.slice(0, -3);
        const [low, high] = [first, prefix + to.slice(prefix.length)].sort(byBytes) as [string, string];
        const hash = prefix + other.slice(prefix.length);
        const entry = keys.zoneEntry(keys.scope(collection), key, hash);
        const range = keys.zoneRange(keys.scope(collection), low, high);
        const [pk, sk = ''] = Object.values(entry);
        expect(Object.keys(entry)).toEqual(['gpkA', 'gskA']);
        expect(pk).toBe(range.pk);
        expect(isBetween(sk, range)).toBe(low <= hash && hash <= high);
      }),
    );
    expect(() => keys.zoneRange(keys.scope(collection), 'gcp22', 'gdp22')).toThrow('two partitions');
    expect(() => keys.zoneRange(keys.scope(collection), 'gcp', 'g')).toThrow('two partitions');
  });

  test('the key of a place count survives a round trip, is beside its siblings, and is not a cell', () => {
    const names = fc.array(nasty, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(scope, names, (of, place) => {
        const key = keys.placeCount(of, place);
        expect(keys.parsePlaceCount(key)).toEqual({ scope: of, place });
        expect(key.pk).toBe(keys.placesPartition(of, place.slice(0, -1)));
        expect(keys.parsePlaceCount(keys.cell(of, 'gcp'))).toBeUndefined();
      }),
    );
  });

  test('a range of cells stays within one partition', () => {
    const of = keys.scope(collection);
    expect(keys.cellRange(of, 'gcp2', 'gczz')).toEqual({ pk: keys.cell(of, 'g000').pk, from: 'cp2', to: 'czz' });
    expect(() => keys.cellRange(of, 'gcp2', 'hczz')).toThrow('two partitions');
    expect(() => keys.cellRange(of, 'gcp', 'gcp2')).toThrow('two partitions');
  });

  test('an index entry is in a partition of its prefix, sorted by the rest of its geohash', () => {
    fc.assert(
      fc.property(
        fc.record({
          scope,
          key: nasty,
          geohash: geohash(10),
          prefixLength: fc.integer({ min: 0, max: 6 }),
          writeShards: fc.integer({ min: 1, max: 5 }),
          geoSlot: fc.constantFrom('A', 'B'),
        }),
        (entry) => {
          const made = keys.geoEntry(entry);
          expect(Object.keys(made)).toEqual([`gpk${entry.geoSlot}`, `gsk${entry.geoSlot}`]);
          const [partition = '', sortKey = ''] = Object.values(made);
          const prefix = entry.geohash.slice(0, entry.prefixLength);
          const partitions = keys.geoPartitions(entry.scope, prefix, entry.writeShards);
          expect(partitions).toHaveLength(entry.writeShards);
          expect(new Set(partitions).size).toBe(entry.writeShards);
          expect(partitions).toContain(partition);
          expect(keys.parseGeoSort(sortKey)).toEqual({ rest: entry.geohash.slice(prefix.length), key: entry.key });
          expect(keys.geoEntry(entry)).toEqual(made);
        },
      ),
    );
  });

  test('a range of geohashes contains exactly the index entries between its bounds', () => {
    const near = fc
      .tuple(fc.constantFrom('', '0', 'g', 'zz', 'gcpjf'), fc.constantFrom('', '0', 'z', 'zz', '00'))
      .chain(([start, end]) => geohash(10 - start.length - end.length).map((middle) => start + middle + end));
    fc.assert(
      fc.property(near, near, near, nasty, fc.integer({ min: 0, max: 6 }), (a, b, other, key, prefixLength) => {
        const [first = '', last = ''] = [a, b].sort(byBytes);
        const prefix = first.slice(0, prefixLength);
        // Within a partition all geohashes share the prefix.
        const [to, hash] = [last, other].map((one) => prefix + one.slice(prefixLength)) as [string, string];
        const [low, high] = [first, to].sort(byBytes) as [string, string];
        const range = keys.geoSortRange(prefixLength, low, high);
        for (const of of [hash, low, high]) {
          const [, sortKey = ''] = Object.values(
            keys.geoEntry({ scope: 'Sh', key, geohash: of, prefixLength, writeShards: 1, geoSlot: 'A' }),
          );
          expect(isBetween(sortKey, range)).toBe(low <= of && of <= high);
        }
      }),
      { numRuns: someOf(500) },
    );
  });

  test('consecutive ranges neither share an entry nor skip one', () => {
    const entry = (hash: string, key: string) =>
      keys.geoEntry({ scope: 'Sh', key, geohash: hash, prefixLength: 2, writeShards: 1, geoSlot: 'A' })['gskA'] ?? '';
    const first = keys.geoSortRange(2, 'gc00000000', 'gczzzzzzz8');
    const second = keys.geoSortRange(2, 'gczzzzzzz9', 'gczzzzzzzz');
    for (const key of [':', ';', '\u0000', 'z', '😀', ':;']) {
      expect([first, second].map((range) => isBetween(entry('gczzzzzzz8', key), range))).toEqual([true, false]);
      expect([first, second].map((range) => isBetween(entry('gczzzzzzz9', key), range))).toEqual([false, true]);
      expect(isBetween(entry('gczzzzzzzz', key), second)).toBe(true);
    }
  });

  test('dead letters are beside the state of their consumer, in one range that excludes it', () => {
    const range = keys.deadLetterPartition('cells');
    const aside = keys.deadLetter('cells', '49590338271490256608559692538361571095921575989136588898');
    expect(aside.pk).toBe(range.pk);
    expect(keys.streamState('cells').pk).toBe(range.pk);
    expect(isBetween(aside.sk, range)).toBe(true);
    expect(isBetween(keys.streamState('cells').sk, range)).toBe(false);
  });
});

test('readable keys can be guessed', () => {
  const keys = createKeyspace('readable');
  expect(keys.scope({ key: 'parks', code: null })).toBe('parks');
  expect(keys.collection('parks')).toEqual({ pk: 'collection', sk: 'parks' });
  expect(keys.marker('parks', 'Golden Ears')).toEqual({ pk: 'marker::parks::Golden Ears', sk: 'self' });
  expect(
    keys.geoEntry({ scope: 'parks', key: '7', geohash: 'c2b8x1y2z3', prefixLength: 2, writeShards: 1, geoSlot: 'A' }),
  ).toEqual({ gpkA: 'marker::parks::c2', gskA: 'b8x1y2z3::7' });
  expect(keys.geoPartitions('parks', 'c2', 2)).toEqual(['marker::parks::c2::0', 'marker::parks::c2::1']);
  expect(keys.cell('parks', 'gcpjfy')).toEqual({ pk: 'cell::parks::6::gcp', sk: 'jfy' });
  expect(keys.cell('parks', '')).toEqual({ pk: 'cell::parks::0::', sk: 'total' });
  expect(keys.streamState('cells')).toEqual({ pk: 'stream::cells', sk: 'state' });
});

test('compact keys use the code of a collection, and reject a collection without one', () => {
  const keys = createKeyspace('compact');
  expect(keys.scope(collection)).toBe('Sh');
  expect(() => keys.scope({ key: 'parks', code: null })).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringContaining('"parks"') }),
  );
  expect(keys.marker('Sh', 'a')).toEqual({ pk: 'ShMa#a', sk: 'self' });
  expect(keys.geoPartitions('Sh', 'c2', 1)).toEqual(['ShMg#c2']);
  expect(keys.codeClaim('Sh')).toEqual({ pk: '--Cc#', sk: 'Sh' });
});

test('document IDs are split at the last #, so that a partition key may contain one', () => {
  const keys = createKeyspace('readable');
  expect(keys.documentId(keys.collection('a#b'))).toBe('collection#a%23b');
  expect(keys.parseDocumentId('marker::parks::a#b#self')).toEqual({ pk: 'marker::parks::a#b', sk: 'self' });
  for (const none of ['', '#', 'a#', '#a', 'a', `a#${'x'.repeat(1025)}`, `${'x'.repeat(2049)}#a`, '\uD800#a']) {
    expect(keys.parseDocumentId(none)).toBeUndefined();
  }
});

test('strings compare by UTF-8 bytes, including characters beyond U+FFFF and private ones', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'z', ':', ';', 'é', '\ud7ff', '\ue000', '\uff5e', '😀', '𐀀') });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('the shard of a key never changes: a re-import must find the existing copy', () => {
  // FNV-1a of 32 bits, whose published values for these are 0xe40c292c and 0xbf9cf968.
  expect(['a', 'foobar'].map((key) => shardOf(key, 1000))).toEqual([0xe40c292c % 1000, 0xbf9cf968 % 1000]);
  expect(shardOf('Poznań', 1000)).toBe(858);
});

test('consecutive keys are spread evenly', () => {
  for (const shards of [2, 3, 4, 8, 16]) {
    const sizes = Array.from({ length: shards }, () => 0);
    for (let number = 0; number < 16_000; number++) {
      const shard = shardOf(`city-${number}`, shards);
      sizes[shard] = (sizes[shard] ?? 0) + 1;
    }
    expect(Math.max(...sizes) / (16_000 / shards)).toBeLessThan(1.1);
  }
});
