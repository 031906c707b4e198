import { isFields } from './fields.js';

const WGS84 = /CRS:?:?84\b|EPSG:(?:[\d.]*:)?4326\b|^WGS ?84$/i;

/** What a GeoJSON object names as its coordinate reference system, in JSON; undefined for WGS 84, or if it names none. */
export function otherCrs(value: unknown): string | undefined {
  const crs = isFields(value) ? value['crs'] : undefined;
  if (!isFields(crs) || !isFields(crs['properties'])) return undefined;
  const { name } = crs['properties'];
  return typeof name === 'string' && WGS84.test(name) ? undefined : JSON.stringify(name);
}
