import { wrapLng, type Point } from '../geo/bounds.js';
import { center, isGeohash } from '../geo/geohash.js';
import { decimalIn, pointCoordinates, singleGeometry, wktPoint } from '../geo/point-formats.js';
import { isMap, mustBeAt, opened, valueAt, type Item, type Mapping, type Path } from './mapping.js';

/** Why an item that matches is no marker. */
export interface Fault {
  readonly reason: 'no key' | 'invalid key' | 'no position' | 'invalid position';
  /** Names the attribute, its value and what is allowed. */
  readonly message: string;
}

/** One place in an item for its position. */
export type Place = NonNullable<Mapping['position']['fallback']>;
/** How one value holds a position. */
export type Format = Extract<Place, { readonly as: unknown }>['as'];

/** About 2.4 km to either side. Shorter ones name areas. */
const SHORTEST_GEOHASH = 5;
/** Longer text is no pair of coordinates. */
const LONGEST_PAIR = 200;

const ALLOWED = {
  geojson: 'a GeoJSON Point, as a map or as text',
  wkt: 'a WKT point such as "POINT (16.9 52.4)"',
  'lat,lng': 'a latitude and a longitude, as text such as "52.4, 16.9", a list, or a Point',
  'lng,lat': 'a longitude and a latitude, as text such as "16.9, 52.4", a list, or a Point',
  geohash: `a geohash of ${SHORTEST_GEOHASH} to 12 characters`,
} as const satisfies Record<Format, string>;

const EMPTY_POINT = /^(?:SRID=\d+;\s*)?(?:MULTI)?POINT(?:\s+Z?M?)?\s+EMPTY$/i;

/** Whether a value says that there is none. */
function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '' || EMPTY_POINT.test(value.trim());
  if (!isMap(value)) return Array.isArray(value) && value.length === 0;
  if (Object.hasOwn(value, 'geometry')) return isAbsent(value['geometry']);
  const point = pointCoordinates(singleGeometry(value));
  return Object.keys(value).length === 0 || (point !== undefined && isAbsent(point.coordinates));
}

/** A coordinate: a number, or text that wholly is one; NaN for anything else. */
export function numberIn(value: unknown): number {
  if (typeof value === 'string') return decimalIn(value.trim()) ?? Number.NaN;
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;
}

/** The coordinates of a GeoJSON Point, or of a Feature of one, as a map or as text. */
function inGeoJson(written: unknown): unknown {
  const value = opened(written);
  if (!isMap(value)) return undefined;
  const { geometry = value } = value;
  return isMap(geometry) ? pointCoordinates(singleGeometry(geometry))?.coordinates : undefined;
}

/** The two coordinates in a value, in its order. */
function pairIn(value: unknown, format: Format): readonly unknown[] | undefined {
  if (format === 'geohash') {
    if (typeof value !== 'string' || value.length < SHORTEST_GEOHASH || !isGeohash(value)) return undefined;
    const { lng, lat } = center(value.toLowerCase());
    return [lng, lat];
  }
  const text = typeof value === 'string' && value.length <= LONGEST_PAIR ? value.trim() : '';
  if (format === 'wkt') return wktPoint(text);
  let pair = inGeoJson(value);
  if (format !== 'geojson') {
    const parts = text.replace(/^[([]\s*|\s*[)\]]$/g, '').split(/\s*[,;]\s*|\s+/);
    const isPair = parts.length === 2 && parts.every((part) => !Number.isNaN(numberIn(part)));
    pair ??= wktPoint(text) ?? (isPair ? parts : value);
  }
  return Array.isArray(pair) && pair.length >= 2 ? pair : undefined;
}

const LNG = 'a longitude in degrees';
const LAT = 'a latitude in degrees from -90 to 90';

/** The position in one place of an item, or why it has none. */
function readPlace(place: Place, item: Item, { zero, wrap }: Mapping['position']): Point | Fault {
  const fault = (path: Path, allowed: string, value: unknown): Fault => ({
    reason: isAbsent(value) ? 'no position' : 'invalid position',
    message: mustBeAt(path, allowed, value),
  });
  let [at, northAt] = 'lng' in place ? [place.lng, place.lat] : [place.path, place.path];
  let [east, north] = [valueAt(item, at), valueAt(item, northAt)];
  if ('lng' in place) {
    if (isAbsent(east)) return fault(at, LNG, east);
    if (isAbsent(north)) return fault(northAt, LAT, north);
  } else {
    const pair = pairIn(east, place.as);
    if (pair === undefined) return fault(at, ALLOWED[place.as], east);
    [east, north] = place.as === 'lat,lng' ? [pair[1], pair[0]] : pair;
  }
  const unit = ('lng' in place && place.perDegree) || 1;
  const [lng, lat] = [numberIn(east) / unit, numberIn(north) / unit];
  if (!Number.isFinite(lng)) return fault(at, LNG, east);
  const isCount = 'lng' in place && unit === 1 && Number.isInteger(lat) && Math.abs(lat) >= 1e5;
  const counted = isCount ? ', or in other units with "perDegree", such as 10000000' : '';
  const hint = Math.abs(lat) <= 180 && Math.abs(lng) <= 90 ? ' (are longitude and latitude swapped?)' : counted;
  if (!(Math.abs(lat) <= 90)) return fault(northAt, LAT + hint, north);
  if (!wrap && Math.abs(lng) > 180)
    return fault(at, `${LNG} from -180 to 180, unless its mapping has "wrap": true`, east);
  if (zero !== 'missing' || lng !== 0 || lat !== 0) return { lng: wrapLng(lng), lat: lat + 0 };
  return { ...fault(at, 'a position other than 0, 0', east), reason: 'no position' };
}

/** The position of an item, or why it has none. */
export function readPosition(position: Mapping['position'], item: Item): Point | Fault {
  const own = readPlace(position, item, position);
  if (position.fallback === undefined || !('reason' in own) || own.reason !== 'no position') return own;
  return readPlace(position.fallback, item, position);
}
