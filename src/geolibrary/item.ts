import { distance } from '../geo/distance.js';
import type { Point } from '../geo/point.js';
import { jsonOfStored } from '../model/json.js';
import type { Properties } from '../model/marker.js';
import type { Item } from '../store/database.js';
import { centerOf, isLeafId } from './s2.js';

/** The table's names for the library's attributes. */
export interface Attributes {
  readonly hashKey: string;
  readonly rangeKey: string;
  readonly geohash: string;
  readonly geoJson: string;
}

/** The marker read from an item of a table of the Geo Library. */
export interface GeoItem {
  readonly key: string;
  readonly position: Point;
  /** The order of its coordinates; undefined if both are possible. */
  readonly order: 'longitude first' | 'latitude first' | undefined;
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
}

/** Maximum distance in meters between an item's position and its geohash, which is a square of a centimeter. */
const TOLERANCE_METERS = 1;
const MANTISSA = 15;

/** The fields of an object as JSON, except those in `omitted`. */
function propertiesOf(fields: object, omitted: readonly string[]): Properties {
  const kept = Object.entries(fields).filter(([name]) => !omitted.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, jsonOfStored(value)]));
}

/** The coordinates in a geoJson attribute. */
function coordinatesIn(text: unknown): readonly [number, number] | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const { coordinates } = JSON.parse(text) as { readonly coordinates?: unknown };
    const [first, second]: unknown[] = Array.isArray(coordinates) ? coordinates : [];
    return Number.isFinite(first) && Number.isFinite(second) ? [first as number, second as number] : undefined;
  } catch {
    return undefined;
  }
}

const isPosition = ({ lng, lat }: Point) => Math.abs(lng) <= 180 && Math.abs(lat) <= 90;

/**
 * The marker in an item, or the reason why it has none. The geohash shows which coordinate comes first, item by item:
 * both the Java library and its JavaScript port may have written to a table.
 */
export function readGeoItem(item: Item, attributes: Attributes): GeoItem | { readonly reason: string } {
  const { hashKey, rangeKey, geohash, geoJson } = attributes;
  const key = item[rangeKey];
  if (typeof key !== 'string' && typeof key !== 'number' && typeof key !== 'bigint') {
    return { reason: `${rangeKey} is not a string or a number` };
  }
  const id = item[geohash];
  if (typeof id !== 'bigint' && !Number.isSafeInteger(id)) return { reason: `${geohash} is not an integer` };
  const leaf = BigInt(id as bigint | number);
  if (!isLeafId(leaf)) return { reason: `${geohash} ${leaf} is not an S2 cell of level 30` };
  const coordinates = coordinatesIn(item[geoJson]);
  if (coordinates === undefined) return { reason: `${geoJson} is not the GeoJSON of a point` };
  const [first, second] = coordinates;
  const center = centerOf(leaf);
  const fits = (at: Point) => isPosition(at) && distance(at, center) < TOLERANCE_METERS;
  const asGeoJson = { lng: first, lat: second };
  const swapped = { lng: second, lat: first };
  const [fitsAsGeoJson, fitsSwapped] = [fits(asGeoJson), fits(swapped)];
  if (!fitsAsGeoJson && !fitsSwapped) {
    const where = [center.lng, center.lat]
      .map((degrees) => Number(degrees.toPrecision(MANTISSA)).toFixed(6))
      .join(', ');
    return { reason: `${geoJson} is not at the position of ${geohash}, longitude and latitude ${where}` };
  }
  const name = item['name'];
  const category = item['category'];
  const used = [hashKey, rangeKey, geohash, geoJson];
  if (typeof name === 'string') used.push('name');
  if (typeof category === 'string') used.push('category');
  return {
    key: String(key),
    position: fitsAsGeoJson ? asGeoJson : swapped,
    order: fitsAsGeoJson && fitsSwapped ? undefined : fitsAsGeoJson ? 'longitude first' : 'latitude first',
    name: typeof name === 'string' ? name : null,
    category: typeof category === 'string' ? category : null,
    properties: propertiesOf(item, used),
  };
}
