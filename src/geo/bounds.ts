import { badInput } from '../errors.js';

/** A position on the sphere in degrees: lng -180..180 (both name the same meridian), lat -90..90. */
export interface Point {
  readonly lng: number;
  readonly lat: number;
}

/**
 * The canonical longitude used in index keys, ranges and comparisons: -180 <= lng < 180, never -0. Positions keep the
 * longitude they were given; only derived values are canonical.
 */
export function canonicalLng(lng: number): number {
  return lng === 180 ? -180 : lng + 0;
}

/**
 * The same meridian within -180..180, of which both ends are kept as given; never -0. Exact: neither the remainder nor
 * the addition rounds.
 */
export function wrapLng(lng: number): number {
  if (lng >= -180 && lng <= 180) return lng + 0;
  const rest = lng % 360;
  if (rest > 180) return rest - 360;
  return rest < -180 ? rest + 360 : rest + 0;
}

/**
 * A client's point, its longitude wrapped. Throws BAD_USER_INPUT naming `field`.lng or `field`.lat if one is not finite
 * or the latitude is out of range, with a hint if the two may be swapped.
 */
export function readPoint(field: string, lng: unknown, lat: unknown): Point {
  if (typeof lng !== 'number' || !Number.isFinite(lng)) {
    throw badInput(`${field}.lng`, lng, 'a finite number of degrees; beyond -180 to 180, it is wrapped');
  }
  if (typeof lat !== 'number' || !(lat >= -90 && lat <= 90)) {
    const swapped = typeof lat === 'number' && Math.abs(lat) <= 180 && Math.abs(lng) <= 90;
    throw badInput(
      `${field}.lat`,
      lat,
      `a latitude from -90 to 90 degrees${swapped ? ' (are lng and lat swapped?)' : ''}`,
    );
  }
  return { lng: wrapLng(lng), lat: lat + 0 };
}

/** A bounding box in degrees, edges included. */
export interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The bounding box of at least one box that does not cross the antimeridian. */
export const boundsAround = (boxes: readonly Bounds[]): Bounds => ({
  west: Math.min(...boxes.map(({ west }) => west)),
  south: Math.min(...boxes.map(({ south }) => south)),
  east: Math.max(...boxes.map(({ east }) => east)),
  north: Math.max(...boxes.map(({ north }) => north)),
});

/** A normalized bounding box: code that uses its parts need not handle the antimeridian. */
export interface Area {
  /** The form that clients see: -180..180, west > east if it crosses the antimeridian. */
  readonly bounds: Bounds;
  /**
   * The same area as one or two disjoint rectangles with west <= east, in canonical longitudes: the antimeridian is at
   * -180 only, so an area that ends at 180 has the line [-180, -180] as its second part.
   */
  readonly parts: readonly Bounds[];
}

const EDGES = ['west', 'south', 'east', 'north'] as const;

const clampLat = (lat: number) => Math.max(-90, Math.min(90, lat)) + 0;

/**
 * Normalizes a bounding box from a map client. West and east may be any finite degrees and are wrapped; east - west of
 * 360 or more means all longitudes, and west > east after wrapping crosses the antimeridian. Latitudes are clamped to
 * -90..90. Throws BAD_USER_INPUT naming `field` and the edge if one is not a finite number or south is above north.
 */
export function normalizeBounds(field: string, input: Bounds): Area {
  for (const edge of EDGES) {
    const value: unknown = input[edge];
    if (!Number.isFinite(value)) throw badInput(`${field}.${edge}`, value, 'a finite number of degrees');
  }
  if (input.south > input.north) throw badInput(`${field}.south`, input.south, `at most north, ${input.north}`);

  const south = clampLat(input.south);
  const north = clampLat(input.north);
  const around = input.east - input.west >= 360;
  const west = around ? -180 : wrapLng(input.west);
  const east = around ? 180 : wrapLng(input.east);
  const part = (from: number, to: number): Bounds => ({ west: from, south, east: to, north });
  const bounds = part(west, east);
  if (west <= east && (east < 180 || west === -180)) return { bounds, parts: [bounds] };

  // The area reaches the antimeridian from the west. Positions on it have longitude -180, so a second part begins there.
  const beyond = part(-180, west <= east ? -180 : east);
  return { bounds, parts: west === 180 ? [beyond] : [part(west, 180), beyond] };
}

/** The center of a bounding box. */
export function middleOf({ west, south, east, north }: Bounds): Point {
  const lng = (west + east + (west > east ? 360 : 0)) / 2;
  return { lng: lng > 180 ? lng - 360 : lng, lat: (south + north) / 2 };
}

/** Whether a position lies in the area or on its edge; 180 and -180 are the same meridian. */
export function areaContains(area: Area, { lng, lat }: Point): boolean {
  const meridian = canonicalLng(lng);
  return area.parts.some(
    ({ west, south, east, north }) => west <= meridian && meridian <= east && south <= lat && lat <= north,
  );
}

/**
 * Whether any position of a cell lies in the area. The eastern and northern edges belong to the cell, the western and
 * southern edges to its neighbors, except at -180 and -90, where there are none.
 */
export function areaOverlapsCell(area: Area, cell: Bounds): boolean {
  return area.parts.some(
    ({ west, south, east, north }) =>
      west <= cell.east &&
      (east > cell.west || cell.west === -180) &&
      south <= cell.north &&
      (north > cell.south || cell.south === -90),
  );
}

const bits = new DataView(new ArrayBuffer(8));

/** The next larger floating-point number. */
function above(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

/**
 * Whether every position of a cell lies in the area. An area that begins at the first number above a cell's open edge
 * contains the cell: clients that tile the world by cells send such areas.
 */
export function areaContainsCell(area: Area, cell: Bounds): boolean {
  const begins = (edge: number, line: number, end: number) => edge <= line || (line !== end && edge === above(line));
  return area.parts.some(
    ({ west, south, east, north }) =>
      begins(west, cell.west, -180) && cell.east <= east && begins(south, cell.south, -90) && cell.north <= north,
  );
}
