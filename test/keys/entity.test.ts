import { expect, expectTypeOf, test } from 'vitest';
import { derive, defineEntity } from '../../src/keys/public.js';

const productDate = defineEntity({
  name: 'productDate',
  key: { pk: 'productDate::{park}::{activity}::{number}', sk: '{product}::{date}' },
  indexes: {
    byDate: { attributes: { pk: 'dpk', sk: 'dsk' }, pk: 'month::{month}', sk: '{date}::{park}' },
    bySeason: { attributes: { pk: 'spk', sk: 'ssk' }, pk: 'season::{season?}', sk: '{tags*}::{park}' },
    byLabel: { attributes: { pk: 'label' }, pk: '{label?}' },
  },
  derived: { month: derive({ date: 'text' }, ({ date }) => date.slice(0, 7)) },
});

const parts = { park: 'bcparks_1', activity: 'dayuse', number: '1', product: '1', date: '2025-12-31' };
const key = { pk: 'productDate::bcparks_1::dayuse::1', sk: '1::2025-12-31' };

test('a user’s own entity has its keys and document id from one declaration, and back', () => {
  expect(productDate.format(parts)).toEqual(key);
  expect(productDate.parse(key)).toEqual(parts);
  expect(productDate.documentId(parts)).toBe('productDate::bcparks_1::dayuse::1#1::2025-12-31');
  expect(productDate.parseDocumentId(productDate.documentId(parts))).toEqual(parts);
});

test('the names of parts are typed from the templates', () => {
  expectTypeOf(productDate.format).parameter(0).toEqualTypeOf<{
    readonly park: string;
    readonly activity: string;
    readonly number: string;
    readonly product: string;
    readonly date: string;
  }>();
  expectTypeOf(productDate.indexes.byDate.format).parameter(0).toEqualTypeOf<{
    readonly park: string;
    readonly date: string;
  }>();
  expectTypeOf(productDate.indexes.bySeason.format).parameter(0).toEqualTypeOf<{
    readonly park: string;
    readonly tags: readonly string[];
    readonly season?: string | undefined;
  }>();
  expectTypeOf(productDate.touchedIndexes).returns.toEqualTypeOf<('byDate' | 'bySeason' | 'byLabel')[]>();
  expectTypeOf(productDate.indexes.byLabel.sk).toEqualTypeOf<undefined>();
  // @ts-expect-error a part that is not in the template, or one that is missing, does not compile
  expect(() => productDate.format({ park: 'a', number: '1', product: '1', date: 'x', activty: 'dayuse' })).toThrow(
    'productDate.activity must be a text that is not empty; got undefined',
  );
});
