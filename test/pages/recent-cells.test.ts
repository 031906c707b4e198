import fc from 'fast-check';
import { expect, test } from 'vitest';

import { addSums, NO_SUMS, type CellSums } from '../../src/geo/cell-sums.js';
import { PLACE_CHILD, placeParent } from '../../src/model/cell.js';
import { RecentCells } from '../../src/pages/recent-cells.js';

const CELLS = ['u3k41', 'u3k42', 'u3qcn', '2pbpb'];
const PLACE = ['Poznań', 'A'];
const change = fc.record({
  name: fc.constantFrom(...CELLS, placeParent(PLACE)),
  count: fc.integer({ min: -1, max: 2 }),
  sumLng: fc.integer({ min: -9, max: 9 }),
});
const parts = fc.array(
  fc.record({ batch: fc.integer({ min: 1, max: 4 }), changes: fc.array(change, { maxLength: 4 }) }),
  {
    maxLength: 12,
  },
);

const sumOf = (all: readonly CellSums[]) => all.reduce(addSums, NO_SUMS);

test('a block gets, of each cell and place in it, the changes of the batches that it lacks, whatever was joined', () => {
  fc.assert(
    fc.property(parts, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }), (all, included, complete) => {
      const sumsOf = (changes: (typeof all)[number]['changes']) => {
        const sums = new Map<string, CellSums>();
        for (const { name, count, sumLng } of changes) {
          const isPlace = name === placeParent(PLACE);
          const more = { count, sumLng: isPlace ? 0 : sumLng, sumLat: 0 };
          sums.set(name, addSums(sums.get(name) ?? NO_SUMS, more));
        }
        return sums;
      };
      const published = all.map(({ batch, changes }) => ({ batch, sums: sumsOf(changes) }));
      // In any number of calls.
      const [some, others] = [published.slice(0, included), published.slice(included)];
      const recent = RecentCells.NONE.with(some).with(others);
      const lacking = (batch: number) => published.filter((part) => part.batch > batch);
      const base = { count: 5, sumLng: 100, sumLat: 0 };
      const expected = (batch: number, isInside: (name: string) => boolean, start: CellSums) => {
        const more = lacking(batch).flatMap(({ sums }) =>
          [...sums].flatMap(([name, one]) => (isInside(name) ? one : [])),
        );
        const sum = sumOf([start, ...more]);
        return sum.count > 0 ? sum : undefined;
      };
      for (const cell of [...CELLS, 'u3k4', 'u3', '2']) {
        const block = { parent: cell.slice(0, -1), batch: included, children: new Map([[cell.slice(-1), base]]) };
        expect(recent.over(block).children.get(cell.slice(-1))).toEqual(
          expected(included, (name) => name.startsWith(cell), base),
        );
        const kept = recent.after(complete).over({ ...block, batch: 0 });
        expect(kept.children.get(cell.slice(-1))).toEqual(expected(complete, (name) => name.startsWith(cell), base));
      }
      for (const place of [PLACE, PLACE.slice(0, 1)]) {
        const parent = placeParent(place);
        const found = recent.over({ parent, batch: included, children: new Map() }).children.get(PLACE_CHILD);
        expect(found).toEqual(expected(included, (name) => name === placeParent(PLACE), NO_SUMS));
      }
      for (const parent of recent.before(3).parents()) {
        const deltas = published.some(({ batch, sums }) => {
          return batch < 3 && [...sums.keys()].some((name) => name.startsWith(parent) || parent.startsWith('['));
        });
        expect(deltas).toBe(true);
      }
    }),
  );
});

test('what cancels out leaves a block as it was, and one that is not stored gets its cells', () => {
  const sums = (count: number) => new Map([['u3k41', { count, sumLng: count, sumLat: count }]]);
  const recent = RecentCells.NONE.with([{ batch: 2, sums: sums(1) }]);
  expect([...recent.parents()].sort()).toEqual(['', 'u', 'u3', 'u3k', 'u3k4']);
  const empty = { parent: 'u3k4', batch: 0, children: new Map() };
  expect(recent.over(empty).children.get('1')).toEqual({ count: 1, sumLng: 1, sumLat: 1 });
  const both = recent.with([{ batch: 2, sums: sums(-1) }]);
  expect(both.over(empty).children.size).toBe(0);
  expect(RecentCells.NONE.over(empty)).toBe(empty);
});
