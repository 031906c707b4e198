import { expect, test } from 'vitest';

import { expectRfc7946 } from './rfc7946.js';

const feature = (geometry: unknown, rest: object = {}) => ({ type: 'Feature', geometry, properties: null, ...rest });
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });
const ring = (...lngs: [number, number]) => {
  const [west, east] = lngs;
  return [west, east, east, west, west].map((lng, at) => [lng, at === 2 || at === 3 ? 1 : 0]);
};

test('the GeoJSON check accepts valid and rejects invalid objects', () => {
  const right = [
    point(-180, 90),
    feature(null),
    feature(point(1, 2), { id: 'a', bbox: [170, -10, -170, 10] }),
    { type: 'FeatureCollection', features: [] },
    { type: 'Polygon', coordinates: [ring(0, 10), ring(1, 2).toReversed()] },
    { type: 'MultiPolygon', coordinates: [[ring(170, 180)], [ring(-180, -170)]] },
    { type: 'GeometryCollection', geometries: [point(1, 2)] },
  ];
  for (const value of right) expectRfc7946(JSON.stringify(value));
  const wrong = [
    point(181, 0),
    point(0, 91),
    point(1),
    { type: 'Feature', geometry: point(1, 2) },
    { ...point(1, 2), crs: {} },
    feature(point(1, 2), { bbox: [0, 10, 1, 5] }),
    { type: 'FeatureCollection', features: [point(1, 2)] },
    { type: 'Polygon', coordinates: [ring(0, 10).toReversed()] },
    { type: 'Polygon', coordinates: [ring(0, 10), ring(1, 2)] },
    { type: 'Polygon', coordinates: [ring(0, 10).slice(0, 4)] },
    { type: 'Polygon', coordinates: [ring(-170, 170)] },
    { type: 'LineString', coordinates: [point(170, 0).coordinates, point(-170, 0).coordinates] },
  ];
  for (const value of wrong) expect(() => expectRfc7946(JSON.stringify(value))).toThrow(/expected/);
});
