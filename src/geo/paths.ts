import { badInput } from '../errors.js';

/**
 * A ring or a line: longitudes begin in -180..180 and continue beyond where it crosses the antimeridian. No edge is longer
 * than 180 degrees.
 */
export interface Path {
  readonly lngs: readonly number[];
  readonly lats: readonly number[];
}

/** One polygon, its outer ring first and then its holes; or one line. */
export interface Part {
  readonly filled: boolean;
  readonly paths: readonly [Path, ...Path[]];
}

const POLYGONS = ['Polygon', 'MultiPolygon'] as const;
const LINES = ['LineString', 'MultiLineString'] as const;

/** Types of geometries that can be read. */
export type PathType = (typeof POLYGONS)[number] | (typeof LINES)[number];

export interface PathLimits {
  readonly types: readonly PathType[];
  /** Maximum number of positions, including those that close rings. */
  readonly mostVertices: number;
}

/** Maximum absolute longitude: one turn of the globe beyond -180..180. */
const FARTHEST = 540;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Validates a client's non-empty list; `what` names its members in errors. */
function readList(field: string, value: unknown, what: string): readonly unknown[] {
  if (isList(value) && value.length > 0) return value;
  throw badInput(field, value, `a non-empty list of ${what}`);
}

/** Whether a value is a position within the maximum range. */
function isPosition(value: unknown): value is readonly [lng: number, lat: number] {
  if (!isList(value)) return false;
  const [lng, lat] = value;
  return typeof lng === 'number' && typeof lat === 'number' && Math.abs(lat) <= 90 && Math.abs(lng) <= FARTHEST;
}

/** Throws BAD_USER_INPUT for anything but a position. */
function checkPosition(field: string, value: unknown): asserts value is readonly [lng: number, lat: number] {
  if (isPosition(value)) return;
  const [lng, lat] = isList(value) ? value : [];
  if (typeof lng !== 'number' || typeof lat !== 'number') {
    throw badInput(field, value, 'a position: [longitude, latitude] in degrees');
  }
  if (!(Math.abs(lat) <= 90)) {
    const swapped = Math.abs(lng) <= 90 ? ' (are longitude and latitude swapped?)' : '';
    throw badInput(`${field}[1]`, lat, `a latitude from -90 to 90 degrees${swapped}`);
  }
  throw badInput(`${field}[0]`, lng, `a longitude from -${FARTHEST} to ${FARTHEST} degrees`);
}

/**
 * Makes longitudes continuous: consecutive positions more than 180 degrees apart are joined the short way round. With
 * `around`, those exactly 360 apart are joined the long way, like the parallel that closes Antarctica.
 */
function unwrap(lngs: readonly number[], around: boolean): number[] {
  let turns = 0;
  return lngs.map((lng, index) => {
    const step = lng - (lngs[index - 1] ?? lng);
    if (Math.abs(step) > 180 && !(around && Math.abs(step) === 360)) turns -= Math.round(step / 360);
    return lng + 360 * turns;
  });
}

/** The minimum of any number of numbers. */
export const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);

/** The maximum of any number of numbers. */
export const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** A path with each edge of 360 degrees split in two, so that joining the short way round does not change it. */
function halved(lngs: readonly number[], lats: readonly number[]): Path {
  if (!lngs.some((lng, index) => Math.abs((lngs[index + 1] ?? lng) - lng) === 360)) return { lngs, lats };
  const middles = lngs.map((lng, index) => (Math.abs((lngs[index + 1] ?? lng) - lng) === 360 ? index : -1));
  const between = (values: readonly number[]) =>
    values.flatMap((value, index) =>
      middles[index] === index ? [value, (value + (values[index + 1] ?? value)) / 2] : [value],
    );
  return { lngs: between(lngs), lats: between(lats) };
}

/** The same longitudes, moved by whole turns so that the westernmost is in -180..180. */
function fromWest(lngs: readonly number[]): number[] {
  const turns = Math.floor((least(lngs) + 180) / 360);
  return lngs.map((lng) => lng - 360 * turns);
}

function readPath(field: string, value: unknown, ring: boolean): Path {
  const positions = readList(field, value, 'positions');
  const lngs: number[] = [];
  const lats: number[] = [];
  for (const [index, one] of positions.entries()) {
    // Building an error path for each of a hundred thousand positions would take longer than reading them.
    if (!isPosition(one)) checkPosition(`${field}[${index}]`, one);
    lngs.push(one[0] + 0);
    lats.push(one[1] + 0);
  }
  let run = unwrap(lngs, false);
  const differ = (longitudes: readonly number[]) =>
    longitudes.some((lng, index) => lng !== longitudes[0] || lats[index] !== lats[0]);
  if (!differ(ring ? lngs : run))
    throw badInput(field, value, `${ring ? 'a ring' : 'a line'} with at least two different positions`);
  if (!ring) return { lngs: fromWest(run), lats };

  if (positions.length < 4) throw badInput(field, value, 'a ring of at least 4 positions');
  if (lngs[0] !== lngs.at(-1) || lats[0] !== lats.at(-1)) {
    throw badInput(field, [positions[0], positions.at(-1)], 'a closed ring, whose last position is its first');
  }
  const closed = (longitudes: readonly number[]) => longitudes[0] === longitudes.at(-1);
  // The short way round, a ring from -180 to 180 and back would have no width or would not be closed.
  if (!closed(run) || most(run) === least(run)) run = unwrap(lngs, true);
  if (!closed(run)) {
    throw badInput(
      field,
      value,
      'a ring that does not go around a pole: cut it at the antimeridian, and close it there',
    );
  }
  if (most(run) - least(run) > 360) throw badInput(field, value, 'a ring at most 360 degrees wide');
  return halved(fromWest(run), lats);
}

function readPolygon(field: string, value: unknown): Part {
  const [outer, ...holes] = readList(field, value, 'rings').map((ring, index) =>
    readPath(`${field}[${index}]`, ring, true),
  );
  if (!outer) throw badInput(field, value, 'a non-empty list of rings');
  return { filled: true, paths: [outer, ...holes] };
}

const readLine = (field: string, value: unknown): Part => ({ filled: false, paths: [readPath(field, value, false)] });

/** Maximum nesting of lists around a position, that of a MultiPolygon. */
const DEEPEST = 3;

/** The number of positions in nested lists that are not validated yet. */
export function countPositions(value: unknown, depth = 0): number {
  if (!isList(value)) return 0;
  if (depth === DEEPEST || !isList(value[0])) return 1;
  return value.reduce<number>((sum, one) => sum + countPositions(one, depth + 1), 0);
}

/**
 * The polygons or lines of a GeoJSON geometry, or of a Feature with one. Edges are straight in longitude and latitude;
 * positions more than 180 degrees apart are joined the short way round, across the antimeridian, and longitudes may
 * continue beyond it. A third coordinate is ignored. Throws BAD_USER_INPUT naming `field` and the part that is invalid.
 */
export function readPaths(field: string, value: unknown, { types, mostVertices }: PathLimits): readonly Part[] {
  const allowed = `a GeoJSON geometry of type ${types.join(' or ')}`;
  if (typeof value !== 'object' || value === null) throw badInput(field, value, allowed);
  if ('type' in value && value.type === 'Feature' && 'geometry' in value) {
    return readPaths(`${field}.geometry`, value.geometry, { types, mostVertices });
  }
  const { type, coordinates } = value as { readonly type?: unknown; readonly coordinates?: unknown };
  const known = types.find((name) => name === type);
  if (known === undefined) throw badInput(`${field}.type`, type, allowed);
  const vertices = countPositions(coordinates);
  const inside = `${field}.coordinates`;
  if (vertices > mostVertices) throw badInput(inside, `${vertices} positions`, `at most ${mostVertices} positions`);
  const each = (read: (field: string, value: unknown) => Part, what: string) =>
    readList(inside, coordinates, what).map((one, index) => read(`${inside}[${index}]`, one));
  switch (known) {
    case 'Polygon':
      return [readPolygon(inside, coordinates)];
    case 'MultiPolygon':
      return each(readPolygon, 'polygons');
    case 'LineString':
      return [readLine(inside, coordinates)];
    case 'MultiLineString':
      return each(readLine, 'lines');
  }
}
