import { expect, test } from 'vitest';

import { createMerge, TileCache } from '../../src/client/tile-cache.js';
import { tileBounds, tileKeys, tilesOver } from '../../src/client/tiles.js';

const EMPTY = { markers: [], clusters: [], cells: [], zones: [] };
const markerAt = (lng: number) => {
  const position = { lng, lat: 1 };
  return { id: 'marker::cars::a', key: 'a', name: 'a', category: null, position, properties: {} };
};

test('an entry of the whole world is not within three quarters of it', () => {
  const cache = new TileCache();
  const world = { level: 2, column: 0, row: 0, columns: 4, rows: 4 };
  const entry = {
    rect: world,
    keys: tileKeys(world),
    requestedAt: Date.now(),
    content: EMPTY,
    maxMarkers: 0,
    stale: false,
  };
  cache.put(entry);
  // A screen of 1920 px at zoom 3 over the Atlantic.
  const wide = tilesOver({ west: -45 - 84, south: -30, east: -45 + 84, north: 50 }, 3, 64, 2);
  expect([wide.column, wide.columns]).toEqual([0, 3]);
  cache.expireOutside({ ...tileBounds({ ...wide, row: 0, rows: 4 }) });
  expect(entry.stale).toBe(true);
});

test('of two copies of a moved marker the one read later is drawn', () => {
  const entry = (column: number, requestedAt: number, lng: number) => {
    const rect = { level: 5, column, row: 16, columns: 1, rows: 1 };
    const content = { ...EMPTY, markers: [markerAt(lng)] };
    return { rect, keys: tileKeys(rect), requestedAt, content, maxMarkers: 9, stale: false };
  };
  // Read first: at 12; read later: at 10 (tile 16).
  const merged = createMerge()([entry(16, 2_000, 10), entry(17, 1_000, 12)]);
  expect(merged.markers.map(({ position }) => position.lng)).toEqual([10]);
});
