import { expect, test } from 'vitest';

import { atOnce } from '../../src/geo/steps.js';
import { readZoneGeometry } from '../../src/geo/zone-geometry.js';
import { openCountries } from '../../src/ingest/zones/countries.js';
import { largestPart } from '../../web/map/view/largest-part.js';

const countries = openCountries();

test.each([
  ['France', [-5, 41, 10, 51]],
  ['United States of America', [-125, 25, -67, 49]],
  ['Norway', [5, 58, 31, 71]],
  ['Netherlands', [3, 51, 7, 54]],
  ['New Zealand', [166, -48, 179, -34]],
  ['Russia', [20, 41, 191, 82]],
  ['Malaysia', [100, 1, 119, 7]],
  ['Fiji', [177, -19, 180, -16]],
  // Its largest island is far from being most of it.
  ['Kiribati', [-190, -11, -152, 5]],
])('the largest part of %s is what one means by it', (name, rounded) => {
  const country = countries.find((each) => each.name === name);
  const border = country!.geometry();
  // As zones are stored.
  const isCut = ['Russia', 'Fiji'].includes(name);
  const geometry = isCut ? atOnce(readZoneGeometry('geometry', border)).geometry : border;
  const { west, south, east, north } = largestPart(geometry as unknown as GeoJSON.Geometry)!;
  expect([west, south, east, north].map(Math.round)).toEqual(rounded);
});

test('a line has no part that is largest', () => {
  expect(largestPart({ type: 'LineString', coordinates: [[1, 2], [3, 4]] })).toBeUndefined(); // prettier-ignore
  expect(largestPart(null)).toBeUndefined();
});
