import { describe, expect, test } from 'vitest';

import type { Marker } from '../../src/model/marker.js';
import { readFilter, type MarkerFilterInput, type PropertyFilterInput } from '../../src/read/filter.js';

const marker: Marker = {
  collection: 'c',
  key: 'k',
  position: { lng: 1, lat: 2 },
  geohash: 's01mtw037m',
  name: null,
  category: 'park',
  mapVersion: 1,
  mapProperties: {},
  complete: false,
  properties: { size: 5, name: 'Błonia', tags: ['dog', 'pond'], none: null, at: { x: [1] } },
  place: [],
  globalId: null,
  incarnation: '',
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
};
const passes = (comparison: PropertyFilterInput) => readFilter({ properties: [comparison] })?.passes(marker);

describe('a comparison', () => {
  test.each<[PropertyFilterInput, boolean]>([
    [{ name: 'size', eq: 5 }, true],
    [{ name: 'size', eq: '5' }, false],
    [{ name: 'at', eq: { x: [1] } }, true],
    [{ name: 'none', eq: null }, true],
    [{ name: 'missing', eq: null }, false],
    [{ name: 'missing', ne: 1 }, true],
    [{ name: 'size', ne: 5 }, false],
    [{ name: 'size', in: [4, 5] }, true],
    [{ name: 'size', in: [] }, false],
    [{ name: 'size', gt: 4.9 }, true],
    [{ name: 'size', gt: 5 }, false],
    [{ name: 'size', gte: 5 }, true],
    [{ name: 'size', lt: '9' }, false],
    [{ name: 'name', lte: 'C' }, true],
    [{ name: 'missing', lt: 5 }, false],
    [{ name: 'name', contains: 'łon' }, true],
    [{ name: 'tags', contains: 'pond' }, true],
    [{ name: 'tags', contains: 'pon' }, false],
    [{ name: 'none', exists: true }, true],
    [{ name: 'missing', exists: false }, true],
    [{ name: 'toString', exists: true }, false],
    [{ name: '__proto__', exists: true }, false],
  ])('%o passes: %s', (comparison, expected) => {
    expect(passes(comparison)).toBe(expected);
  });

  test.each<[unknown, string]>([
    [{ name: 'size' }, 'filter.properties[0]'],
    [{ name: 'size', eq: 1, ne: 2 }, 'filter.properties[0]'],
    [{ name: 5, eq: 1 }, 'filter.properties[0].name'],
    [{ name: 'size', gt: true }, 'filter.properties[0].gt'],
    [{ name: 'size', lt: null }, 'filter.properties[0].lt'],
    [{ name: 'size', gte: Number.NaN }, 'filter.properties[0].gte'],
    [{ name: 'size', in: 5 }, 'filter.properties[0].in'],
    [{ name: 'size', contains: 5 }, 'filter.properties[0].contains'],
    [{ name: 'size', exists: null }, 'filter.properties[0].exists'],
  ])('%o is rejected naming %s', (comparison, field) => {
    expect(() => passes(comparison as PropertyFilterInput)).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', details: expect.objectContaining({ field }) }),
    );
  });
});

describe('a filter', () => {
  test('without conditions is no filter', () => {
    expect(readFilter(null)).toBeUndefined();
    expect(readFilter({ category: null, properties: [], updatedAfter: null })).toBeUndefined();
  });

  test('requires all of its conditions', () => {
    const filter = (input: MarkerFilterInput) => readFilter(input)?.passes(marker);
    expect(filter({ category: ['zoo', 'park'] })).toBe(true);
    expect(filter({ category: [] })).toBe(false);
    expect(filter({ category: ['park'], updatedAfter: '2026-01-02T00:59:59.999+01:00' })).toBe(true);
    expect(filter({ category: ['park'], updatedAfter: '2026-01-02T00:00:00.000Z' })).toBe(false);
    expect(() => filter({ updatedAfter: 'yesterday' })).toThrow(/filter.updatedAfter/);
  });

  test('is evaluated on the index if it projects the required properties', () => {
    const collection = { mapProperties: ['size'] } as never;
    const drawn = { ...marker, mapProperties: { size: 5 } };
    const verdict = (input: MarkerFilterInput, of = drawn) => readFilter(input)?.verdict(of, collection);
    expect(verdict({ properties: [{ name: 'size', eq: 5 }] })).toBe('pass');
    expect(
      verdict({
        properties: [
          { name: 'size', eq: 6 },
          { name: 'name', eq: 'x' },
        ],
      }),
    ).toBe('fail');
    expect(verdict({ properties: [{ name: 'name', eq: 'x' }] })).toBe('unknown');
    expect(verdict({ properties: [{ name: 'name', eq: 'x' }] }, { ...drawn, complete: true })).toBe('fail');
    expect(verdict({ updatedAfter: '2026-01-01T00:00:00Z' })).toBe('unknown');
    expect(verdict({ category: ['zoo'], updatedAfter: '2026-01-01T00:00:00Z' })).toBe('fail');
  });
});
