import { expect, test } from 'vitest';

import { toZ } from '../../src/geo/geohash.js';
import { cellRange, markerRuns } from '../../src/map/markers/runs.js';

const piece = (geohash: string) => cellRange({ geohash });
const cell = (geohash: string, count: number) => ({ geohash, count, sumLng: 0, sumLat: 0 });
const collection = { prefixLength: 0 } as Parameters<typeof markerRuns>[3];
const under = (...parents: readonly string[]) => ({
  length: parents[0]?.length ?? 0,
  ranges: parents.map((parent) => ({ from: toZ(parent), to: toZ(parent) + 1 })),
});
const pieces = [piece('u3k0'), piece('u3k4')];

test('pieces are read together across what holds few markers, and apart across many', () => {
  const cells = (between: number) => [cell('u3k0', 5), cell('u3k2', between), cell('u3k4', 5)];
  expect(markerRuns(pieces, cells(20), under('u3k'), collection, 8)).toHaveLength(1);
  expect(markerRuns(pieces, cells(30), under('u3k'), collection, 8)).toHaveLength(2);
  expect(markerRuns(pieces, cells(30), under('u3k'), collection, 1)).toHaveLength(1);
});

test('what no block tells of is thought to be as full as what they tell of', () => {
  const far = [piece('u3k0'), piece('u3p4')];
  const cells = [cell('u3k0', 5), cell('u3p4', 5)];
  expect(markerRuns(far, cells, under('u3k', 'u3p'), collection, 8)).toHaveLength(1);
  expect(markerRuns(far, [cell('u3k0', 500), cell('u3p4', 500)], under('u3k', 'u3p'), collection, 8)).toHaveLength(2);
});

test('a cell of which parts alone are read is thought to be even', () => {
  const inside = [piece('u3k00'), piece('u3k0z')];
  expect(markerRuns(inside, [cell('u3k0', 25)], under('u3k'), collection, 8)).toHaveLength(1);
  expect(markerRuns(inside, [cell('u3k0', 2_500)], under('u3k'), collection, 8)).toHaveLength(2);
});
