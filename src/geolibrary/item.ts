import { distance } from '../geo/distance.js';
import type { Point } from '../geo/point.js';
import type { Properties } from '../model/marker.js';
import type { Item } from '../store/database.js';
import { centreOf, isLeafId } from './s2.js';

/** Names in a table of the Geo Library, as its configuration has them. */
export interface Attributes {
  readonly hashKey: string;
  readonly rangeKey: string;
  readonly geohash: string;
  readonly geoJson: string;
}

/** What an item of a table of the Geo Library says. */
export interface GeoItem {
  readonly key: string;
  readonly position: Point;
  /** How its coordinates are written; undefined where both ways mean the same. */
  readonly order: 'longitude first' | 'latitude first' | undefined;
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
}

/** A geohash names a square of a centimetre: what lies farther off than this was not written by the library. */
const NEAR_METRES = 1;
const MANTISSA = 15;

/** A value of DynamoDB as JSON has it: sets are lists, bytes are base64, numbers that no double holds are texts. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return String(value);
  if (value instanceof Set) return [...value].map(jsonOf);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === 'object' && value !== null) return propertiesOf(value, []);
  return value;
}

/** The fields of an object but some, as JSON. A name that would set a prototype is left out. */
function propertiesOf(fields: object, but: readonly string[]): Properties {
  const kept = Object.entries(fields).filter(([name]) => !but.includes(name) && name !== '__proto__');
  return Object.fromEntries(kept.map(([name, value]) => [name, jsonOf(value)]));
}

/** The two numbers of a geoJson attribute. */
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
 * A marker from an item, or the reason why it is none. Which coordinate comes first is told by the geohash, item by item:
 * a table may have been written by the library in Java and by its port.
 */
export function readGeoItem(item: Item, attributes: Attributes): GeoItem | { readonly reason: string } {
  const { hashKey, rangeKey, geohash, geoJson } = attributes;
  const key = item[rangeKey];
  if (typeof key !== 'string' && typeof key !== 'number' && typeof key !== 'bigint') {
    return { reason: `its ${rangeKey} is no text or number` };
  }
  const id = item[geohash];
  if (typeof id !== 'bigint' && !Number.isSafeInteger(id))
    return { reason: `it has no ${geohash} that is a whole number` };
  const leaf = BigInt(id as bigint | number);
  if (!isLeafId(leaf)) return { reason: `its ${geohash} ${leaf} is no S2 cell of level 30` };
  const coordinates = coordinatesIn(item[geoJson]);
  if (coordinates === undefined) return { reason: `its ${geoJson} is no GeoJSON text of a point` };
  const [first, second] = coordinates;
  const centre = centreOf(leaf);
  const fits = (at: Point) => isPosition(at) && distance(at, centre) < NEAR_METRES;
  const asGeoJson = { lng: first, lat: second };
  const swapped = { lng: second, lat: first };
  const [given, turned] = [fits(asGeoJson), fits(swapped)];
  if (!given && !turned) {
    const where = [centre.lng, centre.lat]
      .map((degrees) => Number(degrees.toPrecision(MANTISSA)).toFixed(6))
      .join(', ');
    return { reason: `its ${geoJson} is not where its ${geohash} is, at longitude and latitude ${where}` };
  }
  const name = item['name'];
  const category = item['category'];
  const used = [
    hashKey,
    rangeKey,
    geohash,
    geoJson,
    ...(typeof name === 'string' ? ['name'] : []),
    ...(typeof category === 'string' ? ['category'] : []),
  ];
  return {
    key: String(key),
    position: given ? asGeoJson : swapped,
    order: given && turned ? undefined : given ? 'longitude first' : 'latitude first',
    name: typeof name === 'string' ? name : null,
    category: typeof category === 'string' ? category : null,
    properties: propertiesOf(item, used),
  };
}
