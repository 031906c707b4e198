import type { TileContent } from './options.js';
import type { Position } from './tiles.js';

type Coordinates = readonly number[] | readonly Coordinates[];

const isPosition = (part: Coordinates): part is readonly number[] => typeof part[0] === 'number';

const westOf = (part: Coordinates): number => (isPosition(part) ? (part[0] ?? 0) : Math.min(...part.map(westOf)));

const moved = (part: Coordinates, by: number): Coordinates =>
  isPosition(part) ? part.map((each, axis) => (axis === 0 ? each + by : each)) : part.map((each) => moved(each, by));

/** The content in the copy of the world that begins at longitude `west`; what begins before its end is not cut there. */
export function copyFrom(west: number, { markers, clusters, cells, zones }: TileContent): TileContent {
  const turns = (lng: number) => 360 * Math.ceil((west - lng) / 360);
  const place = <T extends { readonly position: Position }>(each: T): T => {
    const { lng, lat } = each.position;
    return { ...each, position: { lng: lng + turns(lng), lat } };
  };
  const part = (coordinates: Coordinates) => moved(coordinates, turns(westOf(coordinates)));
  return {
    markers: markers.map(place),
    clusters: clusters.map(place),
    cells: cells.map(({ bounds, ...cell }) => {
      const by = turns(bounds.west);
      return { ...cell, bounds: { ...bounds, west: bounds.west + by, east: bounds.east + by } };
    }),
    zones: zones.map((zone) => {
      const { type, coordinates } = (zone.geometry ?? {}) as { type?: string; coordinates?: readonly Coordinates[] };
      if (!coordinates) return zone;
      // Zones that cross the antimeridian are cut in two there, which are side by side in another copy.
      return {
        ...zone,
        geometry: { type, coordinates: type?.startsWith('Multi') === true ? coordinates.map(part) : part(coordinates) },
      };
    }),
  };
}
