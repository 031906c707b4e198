import { InvalidRow, isFields, type RowFields } from './fields.js';

const WGS84 = /CRS:?:?84\b|EPSG[:/](?:[\d.]*[:/])?"?4326\b|^WGS ?84$/i;

/** What a GeoJSON object names as its coordinate reference system, in JSON; undefined for WGS 84, or if it names none. */
export function otherCrs(value: unknown): string | undefined {
  const crs = isFields(value) ? value['crs'] : undefined;
  if (!isFields(crs) || !isFields(crs['properties'])) return undefined;
  // A name, a link, or a number in the oldest files.
  const { name, href = name, code } = crs['properties'];
  const named = code === undefined ? href : `EPSG:${JSON.stringify(code)}`;
  return typeof named === 'string' && WGS84.test(named) ? undefined : JSON.stringify(named);
}

/** Throws InvalidRow for a Feature, or a geometry as PostGIS may write it, that names another reference system than WGS 84. */
export function checkCrs(object: RowFields): void {
  const crs = otherCrs(object);
  if (crs !== undefined) throw new InvalidRow(`must be in WGS 84 degrees; its crs is ${crs}`);
}
