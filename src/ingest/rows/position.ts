import { InvalidRow, type ReadOptions } from './fields.js';

/** The fields with a position: one per coordinate, or one for both. */
export type PositionFields = { readonly lng: string; readonly lat: string } | { readonly point: string };

/** A position as given in the row; the store validates it. */
export interface RowPosition {
  readonly lng: unknown;
  readonly lat: unknown;
}

/** Written by QGIS and Google My Maps. Coordinate columns next to it may be outdated if the point was moved. */
const WKT = ['wkt', 'wkt_geom'];
const LAT = ['lat', 'latitude'];
const LNG = ['lng', 'lon', 'long', 'longitude'];
/**
 * WKT, or latitude and longitude. Used only if nothing else is found: such a field may also have the name of a town.
 */
const POINT = [
  'geometry',
  'geom',
  'the_geom',
  'latlng',
  'latlon',
  'lat_lng',
  'lat_lon',
  'lat,lng',
  'lat,lon',
  'lat/lng',
  'lat/lon',
  'coordinates',
  'coords',
  'geo_point_2d',
  'location',
  'position',
];

export const NO_POSITION =
  'no position: columns lat and lng (or latitude and longitude, or y and x) or WKT are required; if they have other names, pass --lat-column and --lng-column';

const plain = (name: string): string => name.trim().toLowerCase();

/** The only field with one of these names. Throws InvalidRow if there are several. */
function only(names: readonly string[], spellings: readonly string[], option = '--lat-column and --lng-column') {
  const found = names.filter((name) => spellings.includes(plain(name)));
  if (found.length < 2) return found[0];
  throw new InvalidRow(`the position may be in any of ${found.join(', ')}; choose with ${option}`);
}

/** The field that an option names. Throws InvalidRow if it does not exist. */
function chosen(names: readonly string[], name: string, option: string): string {
  if (names.includes(name)) return name;
  throw new InvalidRow(`no column ${name}, given by ${option}`);
}

/**
 * Finds the position among field names by their common spellings, ignoring case, or by the options; undefined if not
 * found. Throws InvalidRow if there are several candidates.
 */
export function findPosition(names: readonly string[], options: ReadOptions): PositionFields | undefined {
  const { latColumn, lngColumn } = options;
  if (latColumn !== undefined && latColumn === lngColumn) return { point: chosen(names, latColumn, '--lat-column') };
  if (latColumn !== undefined || lngColumn !== undefined) {
    const part = (name: string | undefined, option: string, spellings: readonly string[], short: string) =>
      name === undefined
        ? (only(names, spellings, option) ?? only(names, [short], option))
        : chosen(names, name, option);
    const lat = part(latColumn, '--lat-column', LAT, 'y');
    const lng = part(lngColumn, '--lng-column', LNG, 'x');
    return lat === undefined || lng === undefined ? undefined : { lng, lat };
  }
  const wkt = only(names, WKT);
  if (wkt !== undefined) return { point: wkt };
  for (const [latNames, lngNames] of [
    [LAT, LNG],
    [['y'], ['x']],
  ] as const) {
    const lat = only(names, latNames, '--lat-column');
    const lng = only(names, lngNames, '--lng-column');
    if (lat !== undefined && lng !== undefined) return { lng, lat };
  }
  const point = only(names, POINT);
  return point === undefined ? undefined : { point };
}

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
const DECIMAL = new RegExp(`^${NUMBER}$`);
const WKT_POINT = new RegExp(
  String.raw`^(?:SRID=4326;)?(?:MULTI)?POINT\s*(?:(?:ZM?|M)\s*)?\(\s*(?:\(\s*)?(${NUMBER})\s+(${NUMBER})(?:\s+${NUMBER}){0,2}\s*(?:\)\s*)?\)$`,
  'i',
);
const LAT_LNG = new RegExp(String.raw`^[([]?\s*(${NUMBER})(?:\s*[,;]\s*|\s+)(${NUMBER})\s*[)\]]?$`);
const OTHER_WKT = /^(?:SRID=\d+;)?([a-z]+)\s*(?:(?:ZM?|M)\s*)?\(/i;

/** Parses degrees; with a decimal comma, 52,4 means 52.4. Anything that is not a decimal number stays text. */
export function degrees(text: string, decimalComma: boolean): unknown {
  const trimmed = text.trim();
  const number = decimalComma ? trimmed.replace(',', '.') : trimmed;
  return DECIMAL.test(number) ? Number(number) : text;
}

/** Parses the position in one field: WKT, with the longitude first, or latitude and longitude. Throws InvalidRow. */
function pointOf(field: string, value: unknown): RowPosition {
  const text = typeof value === 'string' ? value.trim() : '';
  const [, lng, lat] = WKT_POINT.exec(text) ?? [];
  if (lng !== undefined) return { lng: Number(lng), lat: Number(lat) };
  const [, first, second] = LAT_LNG.exec(text) ?? [];
  if (first !== undefined) return { lng: Number(second), lat: Number(first) };
  const [, type] = OTHER_WKT.exec(text) ?? [];
  throw new InvalidRow(
    type === undefined
      ? `${field} is neither WKT like POINT (16.9 52.4) nor latitude and longitude like 52.4, 16.9`
      : `${field} is ${type.toUpperCase()}, but a marker needs a POINT; import areas and lines from GeoJSON`,
  );
}

/** Parses the position of a row with these fields. Throws InvalidRow. */
export function positionIn(fields: Readonly<Record<string, unknown>>, at: PositionFields | undefined): RowPosition {
  if (at === undefined) throw new InvalidRow(NO_POSITION);
  return 'point' in at ? pointOf(at.point, fields[at.point]) : { lng: fields[at.lng], lat: fields[at.lat] };
}
