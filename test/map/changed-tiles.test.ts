import { expect, test } from 'vitest';

import { ChangedTiles } from '../../src/map/tiles/changed-tiles.js';

test('changed tiles are each told once, where a marker was and where it is, and beyond Web Mercator not at all', () => {
  const tiles = new ChangedTiles();
  const [a, b] = [{ lng: 0.001, lat: 0.001 }, { lng: 179.999, lat: -85 }]; // prettier-ignore
  tiles.add({ previous: a, marker: { position: b } });
  tiles.add({ previous: null, marker: { position: a } });
  tiles.add({ previous: { lng: 0, lat: 86 }, marker: null });
  expect(tiles.toJSON()).toEqual({ z: 14, tiles: [[8_192, 8_191], [16_383, 16_357]] }); // prettier-ignore
});

test('too many tiles are told as those of a coarser level', () => {
  const tiles = new ChangedTiles();
  for (let n = 0; n < 20_000; n++) {
    tiles.add({ previous: null, marker: { position: { lng: (n % 200) / 10, lat: Math.floor(n / 200) / 10 } } });
  }
  const told = tiles.toJSON();
  expect(told.z).toBeLessThan(14);
  expect(told.tiles.length).toBeLessThanOrEqual(500);
  const covers = (lng: number) => told.tiles.some(([x]) => x === Math.floor(((lng + 180) / 360) * 2 ** told.z));
  expect([0, 5, 19.9].every(covers)).toBe(true);
});
