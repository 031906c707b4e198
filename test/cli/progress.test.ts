import { expect, it } from 'vitest';

import { Extent } from '../../src/cli/import/where-to-see.js';
import { duration, progressLine } from '../../src/cli/progress.js';

it('a progress line shows the percentage done, the rate of this run and the time left', () => {
  expect(progressLine('Cities', { rows: 20_000, resumed: 0, part: 0.4 }, 0, 4000)).toMatch(
    /^Cities █+░+ 40% {2}20,000, 5,000\/s, 6 s left$/,
  );
  expect(progressLine('x', { rows: 30_000, resumed: 20_000, part: 0.6 }, 0.4, 2000)).toMatch(
    /30,000, 5,000\/s, 4 s left$/,
  );
  expect(progressLine('x', { rows: 0, resumed: 0, part: 0 }, 0, 0)).toMatch(/0% {2}0, 0\/s$/);
  expect(progressLine('x', { rows: 7, resumed: 0, part: 1 }, 0, 1000)).toMatch(/100% {2}7, 7\/s$/);
});

it('durations are formatted for people', () => {
  expect([900, 59_000, 130_000, 3_900_000].map(duration)).toEqual(['1 s', '59 s', '2 min 10 s', '1 h 5 min']);
});

it('the extent of an import is where the map shows all of it, also across the antimeridian', () => {
  const at = (...positions: [lng: unknown, lat: unknown][]) => {
    const extent = new Extent();
    for (const [lng, lat] of positions) extent.add({ lng, lat });
    return extent.at;
  };
  expect(at()).toBeUndefined();
  expect(at(['1', 2], [200, 3], [4, 91])).toBeUndefined();
  expect(at([16.9, 52.4])).toBe('15/52.4000/16.9000');
  expect(at([10, 0], [20, 0])).toBe('5/0.0000/15.0000');
  expect(at([170, -10], [-170, 10])).toMatch(/^4\/-?0\.0000\/-?180\.0000$/);
  expect(at([-180, -90], [180, 90])).toMatch(/^0\//);
});
