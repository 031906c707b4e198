import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';

import { MARKER, ZONE_COVER } from '../../src/keys/declarations.js';
import { defineEntity, derive } from '../../src/keys/public.js';

const productDate = defineEntity({
  name: 'productDate',
  key: { pk: 'productDate::{park}::{activity}::{number}', sk: '{product}::{date}' },
  indexes: {
    byMonth: { attributes: { pk: 'dpk', sk: 'dsk' }, pk: 'month::{month}', sk: '{date}::{park}' },
    bySeason: { attributes: { pk: 'spk', sk: 'ssk' }, pk: 'season::{season?}', sk: '{tags*}::{park}' },
    byLabel: { attributes: { pk: 'label' }, pk: '{label?}' },
  },
  derived: { month: derive({ date: 'text' }, ({ date }) => date.slice(0, 7)) },
});

const parts = { park: 'bcparks_1', activity: 'dayuse', number: '1', product: '1', date: '2025-12-31' };
const key = { pk: 'productDate::bcparks_1::dayuse::1', sk: '1::2025-12-31' };

test('one declaration formats and parses the keys and document ID of a user’s entity', () => {
  expect(productDate.format(parts)).toEqual(key);
  expect(productDate.parse(key)).toEqual(parts);
  expect(productDate.documentId(parts)).toBe('productDate::bcparks_1::dayuse::1#1::2025-12-31');
  expect(productDate.parseDocumentId(productDate.documentId(parts))).toEqual(parts);
});

type ProductDate = typeof productDate;

test('the names of parts are inferred from the templates', () => {
  expectTypeOf<Parameters<ProductDate['format']>[0]>().toEqualTypeOf<{
    readonly park: string;
    readonly activity: string;
    readonly number: string;
    readonly product: string;
    readonly date: string;
  }>();
  expectTypeOf<Parameters<ProductDate['indexes']['byMonth']['format']>[0]>().toEqualTypeOf<{
    readonly park: string;
    readonly date: string;
  }>();
  expectTypeOf<Parameters<ProductDate['indexes']['bySeason']['format']>[0]>().toEqualTypeOf<{
    readonly park: string;
    readonly tags: readonly string[];
    readonly season?: string | undefined;
  }>();
  expectTypeOf<ReturnType<ProductDate['touchedIndexes']>>().toEqualTypeOf<('byMonth' | 'bySeason' | 'byLabel')[]>();
  expectTypeOf<ProductDate['indexes']['byLabel']['sk']>().toEqualTypeOf<undefined>();
  // @ts-expect-error a part that is missing, or one that no template names, does not compile
  expect(() => productDate.format({ park: 'a', number: '1', product: '1', date: 'x', activty: 'dayuse' })).toThrow(
    'productDate.activity must be non-empty text; got undefined',
  );
});

test('templates unknown to the compiler accept any names, and are checked at run time', () => {
  const template: string = 'loose::{a}';
  const loose = defineEntity({ name: 'loose', key: { pk: template, sk: '{b}' } });
  expect(loose.format({ a: '1', b: '2' })).toEqual({ pk: 'loose::1', sk: '2' });
  expect(() => loose.format({ a: '1' })).toThrow('loose.b must be non-empty text');
});

test('a key of another entity or in another spelling is not parsed', () => {
  for (const other of [
    { pk: 'productdate::bcparks_1::dayuse::1', sk: '1::2025-12-31' },
    { pk: 'productDate::bcparks_1::dayuse', sk: '1::2025-12-31' },
    { pk: 'productDate::bcparks_1::dayuse::1::2', sk: '1::2025-12-31' },
    { pk: 'productDate::bcparks%5F1::dayuse::1', sk: '1::2025-12-31' },
    { pk: 'productDate::bcparks_1::dayuse::1', sk: '1::' },
    { pk: 'productDate::bcparks_1::dayuse::1', sk: '1#2' },
  ]) {
    expect(productDate.parse(other)).toBeUndefined();
  }
  expect(productDate.parseDocumentId('productDate::bcparks_1::dayuse::1')).toBeUndefined();
});

test('a part that occurs in both keys must have the same value in both', () => {
  const visit = defineEntity({ name: 'visit', key: { pk: 'visit::{park}', sk: '{park}::{date}' } });
  expect(visit.parse({ pk: 'visit::a', sk: 'a::b' })).toEqual({ park: 'a', date: 'b' });
  expect(visit.parse({ pk: 'visit::a', sk: 'c::b' })).toBeUndefined();
});

describe('indexes', () => {
  const all = { ...parts, season: 'winter', tags: ['a::b', 'c'], label: 'x' };

  test('an item is in every index for which it has all parts', () => {
    expect(productDate.indexKeys(all)).toEqual({
      dpk: 'month::2025-12',
      dsk: '2025-12-31::bcparks_1',
      spk: 'season::winter',
      ssk: 'a%3A%3Ab::c::bcparks_1',
      label: 'x',
    });
    expect(productDate.indexes.bySeason.sk.parse('a%3A%3Ab::c::bcparks_1')).toEqual({
      tags: ['a::b', 'c'],
      park: 'bcparks_1',
    });
  });

  test('an item without an optional part is not in that index, on purpose', () => {
    const { season: _season, label: _label, ...rest } = all;
    expect(productDate.indexKeys(rest)).toEqual({ dpk: 'month::2025-12', dsk: '2025-12-31::bcparks_1' });
  });

  test('an item without a required part is rejected, so that none is missing by accident', () => {
    expect(() => productDate.indexKeys({ ...all, date: undefined as never })).toThrow(
      'productDate.month must be non-empty text',
    );
    expect(() => productDate.indexKeys({ ...all, tags: undefined as never })).toThrow(
      'productDate.tags must be a list',
    );
  });

  test('an update touches the indexes that depend on the changed parts', () => {
    expect(productDate.touchedIndexes(['date'])).toEqual(['byMonth']);
    expect(productDate.touchedIndexes(['park'])).toEqual(['byMonth', 'bySeason']);
    expect(productDate.touchedIndexes(['label', 'season'])).toEqual(['bySeason', 'byLabel']);
    expect(productDate.touchedIndexes(['product', 'description'])).toEqual([]);
    expect(productDate.indexes.byMonth.ingredients).toEqual(['date', 'park']);
  });

  const text = fc.constantFrom('a', 'b', 'a::b', 'gcpjfy6dxx', 'u4pruydqqv');
  const marker = fc.record({
    scope: fc.constantFrom('aa', 'bb'),
    key: text,
    geohash: fc.constantFrom('gcpjfy6dxx', 'gcpjfy6dxz', 'u4pruydqqv'),
    prefixLength: fc.integer({ min: 0, max: 6 }),
    writeShards: fc.integer({ min: 1, max: 4 }),
    place: fc.array(text, { maxLength: 3 }),
    globalId: fc.option(text, { nil: undefined }),
  });
  const cover = fc.record({
    scope: fc.constantFrom('aa', 'bb'),
    key: text,
    geohash: fc.constantFrom('g', 'gc', 'gcp', 'gcpj'),
  });

  test.each(['readable', 'compact'] as const)(
    '%s: an update never changes a key of an index it does not touch',
    (style) => {
      const markers = defineEntity(MARKER, style);
      const covers = defineEntity(ZONE_COVER, style);
      fc.assert(
        fc.property(marker, marker, fc.subarray(Object.keys(MARKER_VALUES)), (before, update, changed) => {
          const after = { ...before, ...pick(update, changed) };
          expect(untouchedKeys(markers, changed, after)).toEqual(untouchedKeys(markers, changed, before));
        }),
      );
      fc.assert(
        fc.property(cover, cover, fc.subarray(['scope', 'key', 'geohash']), (before, update, changed) => {
          const after = { ...before, ...pick(update, changed) };
          expect(untouchedKeys(covers, changed, after)).toEqual(untouchedKeys(covers, changed, before));
        }),
      );
    },
  );

  test('a moved marker changes both keys of the geo index, and no other index', () => {
    expect(defineEntity(MARKER).touchedIndexes(['geohash', 'name'])).toEqual(['geoA', 'geoB']);
    expect(defineEntity(MARKER).touchedIndexes(['place'])).toEqual(['place']);
    expect(defineEntity(MARKER).touchedIndexes(['globalId'])).toEqual(['global']);
  });
});

const MARKER_VALUES = { scope: 1, key: 1, geohash: 1, prefixLength: 1, writeShards: 1, place: 1, globalId: 1 };

const pick = (from: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

interface Indexed<T> {
  readonly indexes: Readonly<Record<string, { format(values: T): unknown }>>;
  touchedIndexes(changed: readonly string[]): readonly string[];
}

/** The keys of these values in the indexes that an update of `changed` does not touch. */
function untouchedKeys<T>(entity: Indexed<T>, changed: readonly string[], values: T) {
  const touched = entity.touchedIndexes(changed);
  return Object.entries(entity.indexes).map(([name, index]) => (touched.includes(name) ? name : index.format(values)));
}
