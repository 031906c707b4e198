import type { Point } from 'geojson';
import { expect, test } from 'vitest';

import { atOnce } from '../../src/geo/steps.js';
import { readZoneGeometry } from '../../src/geo/zone-geometry.js';
import { openCountries } from '../../src/ingest/zones/countries.js';
import { countryNames } from '../../web/map/build/countries.js';
import { places } from '../../web/map/build/places.js';
import { regionBorders } from '../../web/map/build/regions.js';
import { rivers } from '../../web/map/build/waters.js';
import { variants } from '../support/rounds.js';

test('the name of each country is inside it, even across the antimeridian', () => {
  const names = countryNames();
  expect(names.length).toBeGreaterThan(240);
  const countries = openCountries();
  const outside = variants(countries, countries.length / 8).filter(({ name, geometry }) => {
    const label = names.find(({ properties }) => properties?.['name'] === name);
    if (label === undefined) return false;
    const [lng = 0, lat = 0] = (label.geometry as Point).coordinates;
    return !atOnce(readZoneGeometry('geometry', geometry())).shape.contains({ lng, lat });
  });
  expect(outside.map(({ name }) => name)).toEqual([]);
  const fiji = names.find(({ properties }) => properties?.['name'] === 'Fiji');
  // In the middle of Viti Levu, its largest island.
  expect((fiji?.geometry as Point | undefined)?.coordinates).toEqual([
    expect.closeTo(178, 0),
    expect.closeTo(-17.8, 0),
  ]);
  expect(names.find(({ properties }) => properties?.['name'] === 'North Macedonia')).toBeDefined();
});

test('a place appears at the zoom where it is the largest nearby, and a capital before a larger town but not before a city', () => {
  const city = (name: string, population: number, lng: number, lat: number, featureCode = 'PPL') => {
    return { name, population, featureCode, loc: { coordinates: [lng, lat] as const } };
  };
  const made = places([
    city('village in the desert', 900, 120, -25),
    city('suburb', 400_000, 10.01, 50),
    city('town', 300_000, 12, 50),
    city('city', 1_000_000, 10, 50),
    city('capital', 150_000, 12.5, 50, 'PPLC'),
    // Names are wider than high, so there is room for its name.
    city('north', 200_000, 10, 54.5),
  ]);
  const from = Object.fromEntries(made.map(({ properties }) => [properties?.['name'], properties?.['from']]));
  expect(from).toEqual({ city: 3, north: 3, 'village in the desert': 3, capital: 5, town: 7 });
  const byRank = made.toSorted((one, other) => Number(one.properties?.['rank']) - Number(other.properties?.['rank']));
  expect(byRank.map(({ properties }) => properties?.['name'])).toEqual(['city', 'capital', 'town', 'north', 'village in the desert']); // prettier-ignore
});

test('borders of large regions appear before those of small ones, great rivers before small ones', () => {
  const borders = regionBorders().map(({ geometry, properties }) => {
    return { from: Number(properties?.['from']), text: JSON.stringify(geometry) };
  });
  expect(borders.length).toBeGreaterThan(150);
  expect(Math.min(...borders.map(({ from }) => from))).toBe(3);
  expect(borders.filter(({ from }) => from > 5).length).toBeGreaterThan(50);
  const widths = (zoom: number) =>
    rivers().flatMap(({ properties }) => (properties?.['from'] === zoom ? [Number(properties['width'])] : []));
  expect(Math.max(...widths(2))).toBeGreaterThan(Math.max(...widths(5)));
});
