import { expect, test } from 'vitest';

import { createLoadText } from '../../web/map/api/follow-load.js';

test('the first load of the demo says what it does, and how long that takes once its pace is known', () => {
  const textOf = createLoadText();
  const load = { state: 'loading', checked: 0, cities: 0, of: 49_025, counted: false, reason: null } as const;
  const texts = [
    { ...load, of: null },
    { ...load, checked: 9_805 },
    { ...load, checked: 49_025 },
    { ...load, cities: 500 },
    { ...load, cities: 1_500 },
    { ...load, cities: 2_500 },
    { ...load, cities: 3_500 },
    { ...load, cities: 39_025 },
    { ...load, cities: 49_025 },
    { ...load, cities: 49_025, counted: true },
    { ...load, cities: 49_025, counted: true, state: 'complete' as const },
    { ...load, state: 'failed' as const, reason: 'the disk is full' },
  ].map((each, index) => textOf(each, 4_000 * index));
  expect(texts).toEqual([
    'Opening the list of cities',
    'Checking the list of cities: 20 %',
    'Writing the first of 49,025 cities',
    'Loading the cities: 500 of 49,025',
    'Loading the cities: 1,500 of 49,025',
    'Loading the cities: 2,500 of 49,025',
    'Loading the cities: 3,500 of 49,025, about 3 min left',
    'Loading the cities: 39,025 of 49,025, about 5 s left',
    'Counting the last cities',
    'All cities are on the map. Loading the countries',
    'All 49,025 cities are on the map',
    'Could not load the demo: the disk is full',
  ]);
});
