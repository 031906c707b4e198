import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createKeyspace } from '../../../src/keys/keyspace.js';
import { SIZE_CHILD } from '../../../src/model/cell.js';
import { markerBytes } from '../../../src/store/marker/marker-update.js';
import { itemBytes } from '../../../src/store/request/item-size.js';
import { wireOf } from '../../../src/store/request/wire.js';
import { CellFold } from '../../../src/stream/cells/fold.js';
import {
  changeOf,
  contributionAt,
  contributionOf,
  type StreamRecord,
  type WireImage,
} from '../../../src/stream/change.js';

const keys = createKeyspace('readable');
const point = fc.record({
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
});

function record(pk: string, sk: string, before?: WireImage, after?: WireImage): StreamRecord {
  return { sequence: '1', event: 'MODIFY', at: 0, keys: { pk: { S: pk }, sk: { S: sk } }, before, after };
}

const at = (lng: string, lat: string): WireImage => ({ lng: { N: lng }, lat: { N: lat } });

describe('a fold', () => {
  test('counts each marker once at every length', () => {
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 40 }), (points) => {
        const fold = new CellFold();
        for (const { lng, lat } of points) fold.add('parks', contributionAt(lng, lat), 1);
        const blocks = fold.changes().get('parks');
        for (let length = 0; length < 5; length += 1) {
          const ofLength = [...(blocks ?? [])].filter(([parent]) => parent.length === length);
          const count = ofLength
            .flatMap(([, children]) => [...children.values()])
            .reduce((sum, { count: n }) => sum + n, 0);
          expect(count).toBe(points.length);
        }
      }),
    );
  });

  test('has no changes once everything that was added is subtracted, in any order', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 40 }), (points) => {
        const fold = new CellFold();
        for (const { lng, lat } of points) fold.add('parks', contributionAt(lng, lat), 1);
        for (const { lng, lat } of points.toReversed()) fold.add('parks', contributionAt(lng, lat), -1);
        expect(fold.changes().size).toBe(0);
      }),
    );
  });

  test('changes counts only at the levels where a move crosses cells, and sums at the others', () => {
    const fold = new CellFold();
    fold.add('parks', contributionAt(16.925168, 52.408), -1);
    fold.add('parks', contributionAt(16.925169, 52.408), 1);
    const blocks = fold.changes().get('parks');
    expect([...(blocks?.keys() ?? [])].map((parent) => parent.length).toSorted((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4,
    ]);
    expect([...(blocks?.get('')?.values() ?? [])]).toEqual([{ count: 0, sumLng: 1, sumLat: 0 }]);
  });
});

test('a fold adds up sizes, and how many markers have one, in the block of the whole collection', () => {
  const fold = new CellFold();
  fold.add('parks', contributionAt(1, 2, [], 300), -1);
  fold.add('parks', contributionAt(1, 2, ['Poznań'], 320), 1);
  fold.add('parks', contributionAt(3, 4, [], 100), 1);
  expect(fold.changes().get('parks')?.get('')?.get(SIZE_CHILD)).toEqual({ count: 120, sumLng: 1, sumLat: 0 });
});

test('the size of an image is that of the item, without what others have added to it', () => {
  const item = fc.record({
    pk: fc.string(),
    lng: fc.double({ noNaN: true, noDefaultInfinity: true, min: -180, max: 180 }),
    lat: fc.double({ noNaN: true, noDefaultInfinity: true, min: -90, max: 90 }),
    version: fc.nat(),
    place: fc.array(fc.string()),
    mc: fc.boolean(),
    m: fc.dictionary(fc.string(), fc.jsonValue()),
    properties: fc.constantFrom({}, { a: {}, b: [], '': null }),
  });
  fc.assert(
    fc.property(item, (own) => {
      const { M } = wireOf({ ...own, foreign: 'note' });
      expect(markerBytes(M as WireImage)).toBe(itemBytes(own));
    }),
  );
  const asStreamed = { m: {}, properties: { M: { a: {} } } } as unknown as WireImage;
  expect(markerBytes(asStreamed)).toBe(itemBytes({ m: {}, properties: { a: {} } }));
});

describe('a fold of places', () => {
  const placeNames = fc.array(fc.constantFrom('A', 'B', '1', '[', '"'), { maxLength: 4 });

  test('counts each marker once at its place and at every place that contains it', () => {
    fc.assert(
      fc.property(fc.array(placeNames, { maxLength: 30 }), (places) => {
        const fold = new CellFold();
        for (const place of places) fold.add('parks', contributionAt(1, 2, place), 1);
        const wanted = new Map<string, number>();
        for (const place of places) {
          place.forEach((_, index) => {
            const name = JSON.stringify(place.slice(0, index + 1));
            wanted.set(name, (wanted.get(name) ?? 0) + 1);
          });
        }
        const found = [...(fold.changes().get('parks') ?? [])].filter(([parent]) => parent.startsWith('['));
        expect(new Map(found.map(([parent, children]) => [parent, children.get('')?.count]))).toEqual(wanted);
      }),
    );
  });

  test('does not change the places that contain both ends of a move', () => {
    const fold = new CellFold();
    fold.add('parks', contributionAt(1, 2, ['Poznań', 'A', '1']), -1);
    fold.add('parks', contributionAt(1, 2, ['Poznań', 'A', '2']), 1);
    expect([...(fold.changes().get('parks')?.keys() ?? [])]).toEqual(['["Poznań","A","1"]', '["Poznań","A","2"]']);
  });
});

describe('a record', () => {
  const { pk, sk } = keys.marker('parks', 'a');

  test('of a marker changes cells by its images, whatever its event name', () => {
    const change = changeOf(keys, { ...record(pk, sk, at('1', '2'), undefined), event: 'INSERT' });
    expect(change).toMatchObject({
      scope: 'parks',
      before: contributionOf(at('1', '2')),
      after: undefined,
      fault: undefined,
    });
  });

  test.each([
    ['collection', 'parks'],
    [pk, 'reading::2026-01-01T00:00:00.000Z'],
    ['something::else', 'self'],
    ['zone::parks', 'a'],
  ])('of %s / %s does not change cells', (otherPk, otherSk) => {
    expect(changeOf(keys, record(otherPk, otherSk, undefined, at('1', '2')))).toBeUndefined();
  });

  test.each([
    [{ lng: { S: '1' }, lat: { N: '2' } }, 'lng'],
    [{ lng: { N: '181' }, lat: { N: '2' } }, 'lng'],
    [{ lng: { N: '1E+60' }, lat: { N: '2' } }, 'lng'],
    [{ lng: { N: '1' }, lat: { N: '90.1' } }, 'lat'],
    [{ lng: { N: '1' } }, 'lat'],
  ] satisfies [WireImage, string][])(
    'with the image %o becomes a dead letter, and its old image is subtracted',
    (image, named) => {
      const change = changeOf(keys, record(pk, sk, at('1', '2'), image));
      expect(change?.fault).toContain(named);
      expect(change).toMatchObject({ before: contributionOf(at('1', '2')), after: undefined });
    },
  );

  test.each<[string, unknown, readonly string[]]>([
    ['its names', { L: [{ S: 'Poznan\u0301' }, { S: 'A' }] }, ['Pozna\u0144', 'A']],
    ['no place if there is none', undefined, []],
    ['no place if it is not a list', { S: 'A' }, []],
    ['no place if a name is not a string', { L: [{ S: 'A' }, { N: '1' }] }, []],
    ['no place if a name is too long for a key', { L: [{ S: 'x'.repeat(201) }] }, []],
    ['no place if there are too many names', { L: Array.from({ length: 13 }, () => ({ S: 'x' })) }, []],
    [
      'no place if all names together are too long',
      { L: Array.from({ length: 12 }, () => ({ S: 'x'.repeat(100) })) },
      [],
    ],
  ])('counts a marker at %s, and in its cell', (_, place, expected) => {
    expect(contributionOf({ ...at('1', '2'), place } as WireImage)).toEqual({
      ...contributionAt(1, 2, expected),
      bytes: expect.any(Number),
    });
  });

  test('counts longitude 180 as -180', () => {
    const { cell, sums } = contributionAt(-180, 0);
    expect(contributionOf(at('180', '0'))).toMatchObject({ cell, sums });
  });
});
