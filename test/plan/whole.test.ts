import { expect, test } from 'vitest';

import { toZ } from '../../src/geo/geohash.js';
import { cellRange } from '../../src/plan/density.js';
import { planWhole } from '../../src/plan/markers.js';

/** The number of ranges in which the cells of a cover are read, given counts of cells and the blocks they were read from. */
function rangesOf(cover: readonly string[], counts: Record<string, number>, parents: readonly string[], most = 8) {
  const blocks = {
    length: parents[0]?.length ?? 0,
    ranges: parents.map((parent) => ({ from: toZ(parent), to: toZ(parent) + 1 })),
  };
  const cells = new Map(Object.entries(counts));
  return planWhole({ cover: cover.map(cellRange), prefixLength: 0, counts: { precision: 4, cells, blocks } }, most);
}

test('cells are read together across a gap with few markers, and separately across one with many', () => {
  const between = (count: number, most?: number) =>
    rangesOf(['u3k0', 'u3k4'], { u3k0: 5, u3k2: count, u3k4: 5 }, ['u3k'], most);
  expect(between(20)).toHaveLength(1);
  expect(between(60)).toHaveLength(2);
});

test('if the budget does not allow all ranges, they are joined across the gaps with the fewest markers', () => {
  const counts = { u3k0: 5, u3k2: 600, u3k4: 5, u3k6: 60, u3k8: 5 };
  const planned = (most: number) => rangesOf(['u3k0', 'u3k4', 'u3k8'], counts, ['u3k'], most)?.map(({ from }) => from);
  const [first, second, third] = ['u3k0', 'u3k4', 'u3k8'].map((geohash) => cellRange(geohash).from);
  expect(planned(3)).toEqual([first, second, third]);
  expect(planned(2)).toEqual([first, second]);
  expect(planned(1)).toEqual([first]);
});

test('where no block was read, markers are expected to be as dense as in the blocks that were', () => {
  const far = ['u3k0', 'u3p4'];
  expect(rangesOf(far, { u3k0: 5, u3p4: 5 }, ['u3k', 'u3p'])).toHaveLength(1);
  expect(rangesOf(far, { u3k0: 500, u3p4: 500 }, ['u3k', 'u3p'])).toHaveLength(2);
});

test('markers are expected to be evenly spread within a cell of which only parts are read', () => {
  const parts = ['u3k00', 'u3k0z'];
  expect(rangesOf(parts, { u3k0: 25 }, ['u3k'])).toHaveLength(1);
  expect(rangesOf(parts, { u3k0: 2_500 }, ['u3k'])).toHaveLength(2);
});

test('a search across very many partitions is not planned as a whole', () => {
  expect(planWhole({ cover: [cellRange('u')], prefixLength: 6 }, 64)).toBeUndefined();
});
