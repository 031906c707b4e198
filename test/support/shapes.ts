/** Positions written as in WKT: `170 0, 190 4`. */
export const positions = (text: string): [lng: number, lat: number][] =>
  text.split(', ').map((pair) => pair.split(' ').map(Number) as [number, number]);

export const line = (text: string) => ({ type: 'LineString', coordinates: positions(text) });

export const box = (west: number, south: number, east: number, north: number): [lng: number, lat: number][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];

export const rectangle = (west: number, south: number, east: number, north: number) => ({
  type: 'Polygon',
  coordinates: [box(west, south, east, north)],
});
