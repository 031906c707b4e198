import { expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';
import { byBytes, isBetween } from './nasty.js';

const keys = createKeyspace('compact');
const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'.split('');

// The specification of the compact cell key, row by row: cells around gcpjfy6d with the code Sh.
test.each([
  { length: 3, pk: 'ShCe#', sk: 'gcp', partitions: 1, sortKeys: 32_768, parent: '', from: '000', to: 'zzz' },
  { length: 4, pk: 'ShCe#g', sk: 'cpj', partitions: 32, sortKeys: 32_768, parent: 'g', from: '000', to: 'zzz' },
  { length: 5, pk: 'ShCe#gc', sk: 'pjf', partitions: 1024, sortKeys: 32_768, parent: 'gc', from: '000', to: 'zzz' },
  { length: 6, pk: 'ShCe#gcp', sk: 'jfy', partitions: 32_768, sortKeys: 32_768, parent: 'gcp', from: '000', to: 'zzz' },
  {
    length: 7,
    pk: 'ShCe#gcpj',
    sk: 'fy6',
    partitions: 1_048_576,
    sortKeys: 32_768,
    parent: 'gcpj',
    from: '000',
    to: 'zzz',
  },
  {
    length: 8,
    pk: 'ShCe#gcpjf',
    sk: 'y6d',
    partitions: 33_554_432,
    sortKeys: 32_768,
    parent: 'gcpjf',
    from: '000',
    to: 'zzz',
  },
])('a cell of length $length has pk $pk and sk $sk', ({ length, pk, sk, partitions, sortKeys, parent, from, to }) => {
  const geohash = 'gcpjfy6d'.slice(0, length);
  expect(keys.cell('Sh', geohash)).toEqual({ pk, sk });
  expect(keys.parseCell({ pk, sk })).toEqual({ scope: 'Sh', geohash });
  expect(32 ** (pk.length - 'ShCe#'.length)).toBe(partitions);
  expect(32 ** sk.length).toBe(sortKeys);
  expect(keys.cellRange('Sh', parent + from, parent + to)).toEqual({ pk, from, to });
});

test('the children of one cell are one range of one partition: the parent’s last characters, then 0 to z', () => {
  for (const parent of ['gc', 'gcp', 'gcpj', 'gcpjfy6', '000', 'zzzz']) {
    const range = keys.cellRange('Sh', `${parent}0`, `${parent}z`);
    expect(range.from).toBe(`${parent}0`.slice(-3));
    expect(range.to).toBe(`${parent}z`.slice(-3));
    for (const character of ALPHABET) {
      const { pk, sk } = keys.cell('Sh', parent + character);
      expect(pk).toBe(range.pk);
      expect(isBetween(sk, range)).toBe(true);
    }
  }
});

test('cells of length 0, 1 and 2 have separate purposes, so that no partition mixes lengths', () => {
  expect(keys.cell('Sh', '')).toEqual({ pk: 'ShC0#', sk: 'total' });
  expect(keys.cell('Sh', 'g')).toEqual({ pk: 'ShC1#', sk: 'g' });
  expect(keys.cell('Sh', 'gc')).toEqual({ pk: 'ShC2#', sk: 'gc' });
  const partitions = Array.from({ length: 12 }, (_, length) => keys.cell('Sh', 'gcpjfy6dxxzz'.slice(0, length)).pk);
  expect(new Set(partitions).size).toBe(12);
});

test('the geohash alphabet is in byte order, like sort keys', () => {
  expect(ALPHABET.toSorted(byBytes)).toEqual(ALPHABET);
});
