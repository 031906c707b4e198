import { hash } from 'node:crypto';

import type { Point } from '../../geo/bounds.js';
import type { Cell } from '../../geo/cell-sums.js';
import type { Cluster } from '../../geo/clusters.js';
import { cellBounds } from '../../geo/geohash.js';
import { placesIn, TILE_BUFFER, TILE_UNITS, unitAt, type Tile } from '../../geo/tiles.js';
import { markerId } from '../../keys/ids.js';
import type { MapMarker, Properties } from '../../model/marker.js';
import type { TileFeature } from './encode.js';

/** The number of a feature: of 48 bits, which every reader of tiles can hold. The same in every tile. */
const numberOf = (name: string) => hash('sha256', name, 'buffer').readUIntBE(0, 6);

const WHOLE = /^(?:0|[1-9]\d{0,14})$/;

/** The number of a marker: its key where that is a whole number, by which clients know it; it takes fewer bytes, too. */
const markerNumber = (id: string, key: string) => (WHOLE.test(key) ? Number(key) : numberOf(id));

/** A point as features: tile 0/0/0 shows one near its edge twice. */
function pointFeatures(tile: Tile, position: Point, id: number, properties: Properties): TileFeature[] {
  const places = placesIn(tile, unitAt(position, tile.z));
  return places.map(({ x, y }) => ({ id, type: 1, properties, geometry: [[[x, y]]] }));
}

/** The features of a marker with some properties. */
export function markerFeatures(
  tile: Tile,
  { collection, key, name, category, position }: MapMarker,
  properties: Properties,
): TileFeature[] {
  const id = markerId(collection, key);
  return pointFeatures(tile, position, markerNumber(id, key), { ...properties, id, key, name, category });
}

/** The features of a cluster; its number is the same in all tiles of the level. */
export const clusterFeatures = (tile: Tile, { cells, position, count }: Cluster): TileFeature[] =>
  pointFeatures(tile, position, numberOf(`cluster ${tile.z} ${cells[0]?.geohash ?? ''}`), { count });

/** The feature of a cell: a square that ends with the buffer of the tile. */
export function cellFeature(tile: Tile, { geohash, count }: Cell): TileFeature[] {
  const { west, south, east, north } = cellBounds(geohash);
  const [from, to] = [unitAt({ lng: west, lat: north }, tile.z), unitAt({ lng: east, lat: south }, tile.z)];
  const within = (at: number) => Math.max(-TILE_BUFFER, Math.min(TILE_UNITS + TILE_BUFFER, at));
  const units = TILE_UNITS * 2 ** tile.z;
  // Longitude 180 is the eastern edge of the world here.
  const right = east === 180 ? units : to.x;
  return [-units, 0, units].flatMap((turn): TileFeature[] => {
    const [x1, x2] = [from.x, right].map((x) => within(x - tile.x * TILE_UNITS + turn));
    const [y1, y2] = [from.y, to.y].map((y) => within(y - tile.y * TILE_UNITS));
    if (x1 === undefined || x2 === undefined || y1 === undefined || y2 === undefined || x1 >= x2 || y1 >= y2) return [];
    const ring: [number, number][] = [
      [x1, y1],
      [x2, y1],
      [x2, y2],
      [x1, y2],
      [x1, y1],
    ];
    return [{ id: numberOf(`cell ${geohash}`), type: 3, properties: { geohash, count }, geometry: [ring] }];
  });
}

/** The GeoJSON feature of a zone, from which its part of a tile is cut. */
export const zoneFeature = (id: string, geometry: GeoJSON.Geometry, properties: Properties): GeoJSON.Feature => ({
  type: 'Feature',
  id: numberOf(id),
  geometry,
  properties: { ...properties, id },
});
