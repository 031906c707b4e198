import { expect, test } from 'vitest';

import { cellBounds } from '../../src/geo/geohash.js';
import { explainReads } from '../../src/graphql/extensions.js';
import { createKeyspace } from '../../src/keys/keyspace.js';

const keys = createKeyspace('readable');
const figures = { items: 2, readUnits: 0, cached: true };
const cells = (first: string, last: string, cached = true) => ({
  index: 'cells',
  ...keys.cellRange('parks', first, last),
  ...figures,
  cached,
});

test('adjacent ranges from a cache are joined, whatever the order, and listed where the first was found', () => {
  const place = { ...figures, index: 'place', pk: 'place::parks::x', from: null, to: null, cached: false };
  const reads = [cells('u4', 'u5'), place, cells('u1', 'u1'), cells('u2', 'u3'), cells('u7', 'u7')];
  expect(explainReads(reads, keys).map(({ geohashes, items }) => [geohashes, items])).toEqual([
    [{ first: 'u1', last: 'u5' }, 6],
    [null, 2],
    [{ first: 'u7', last: 'u7' }, 2],
  ]);
});

test('a range that was read or found before is not listed again', () => {
  const reads = [cells('u4', 'u5'), cells('u4', 'u5'), cells('u5', 'u5'), cells('u0', 'u2', false), cells('u1', 'u2')];
  expect(explainReads(reads, keys).map(({ geohashes, cached }) => [geohashes?.first, cached])).toEqual([
    ['u4', true],
    ['u0', false],
  ]);
  // Other partitions have other cells.
  const other = { ...cells('u1', 'u2'), ...keys.cellRange('other', 'u1', 'u2') };
  expect(explainReads([cells('u0', 'u2', false), other], keys)).toHaveLength(2);
});

test('a cover of one character is two cells, and a block of the whole collection is the globe', () => {
  const covers = { index: 'geoA', ...keys.zoneRange('parks', 's', 's'), ...figures, cached: false };
  const globe = cells('', '', false);
  const [pair, all] = explainReads([covers, globe], keys);
  expect(pair).toMatchObject({ geohashes: { first: 's', last: 't' } });
  expect(pair?.bounds).toEqual({ ...cellBounds('s'), east: cellBounds('t').east });
  expect(all).toMatchObject({
    geohashes: { first: '', last: '' },
    bounds: { west: -180, south: -90, east: 180, north: 90 },
  });
});

test('a marker named like a cell has no bounds', () => {
  const read = { index: 'entities', pk: 'marker::parks::u1', from: 'reading::', to: 'reading:;' };
  expect(explainReads([{ ...read, ...figures }], keys)).toMatchObject([{ bounds: null, geohashes: null }]);
});
