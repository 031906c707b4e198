import { badInput } from '../../errors.js';
import { ZONE_TYPES } from '../../geo/zone-geometry.js';
import type { Properties } from '../../model/marker.js';
import type { FileFormat } from '../read/file-format.js';
import { fileSize, openFile, type FileSource } from '../read/file-source.js';
import { jsonReader } from '../read/json-reader.js';
import { isInvalid, type RowReader } from '../read/row.js';
import { withKey, type Keyed } from '../rows/content-key.js';
import { checkCrs } from '../rows/crs.js';
import {
  findParts,
  InvalidRow,
  isFields,
  keyOfFeature,
  label,
  LABEL_NAMES,
  OWN_MEMBER,
  ownLabel,
  propertiesOfFeature,
  typeOf,
  without,
  type ReadOptions,
} from '../rows/fields.js';

/** A zone parsed from a row; the store validates it. */
export interface ZoneRow extends Keyed {
  readonly name: string | null;
  readonly properties: Properties;
  readonly geometry: unknown;
}

/** Maximum length of a row in bytes: 500,000 positions with all digits, and properties. */
const LONGEST_ZONE = 32 * 1024 * 1024;

const isZoneType = (type: unknown) => ZONE_TYPES.some((name) => name === type);

/**
 * Parses a zone from a GeoJSON Feature: `id` is the key, the name comes from its properties, the rest stay properties. If
 * it has a member `cellport`, as `export` writes it, the name comes from there, and all properties stay. Throws
 * InvalidRow.
 */
function zoneOfFeature(feature: unknown, options: ReadOptions): ZoneRow {
  if (!isFields(feature) || feature['type'] !== 'Feature') throw new InvalidRow('not a GeoJSON Feature');
  const { geometry, [OWN_MEMBER]: own } = feature;
  if (!isFields(geometry)) throw new InvalidRow('the feature has no geometry');
  for (const object of [feature, geometry]) checkCrs(object);
  const { type } = geometry;
  if (!isZoneType(type)) {
    const advice = type === 'Point' ? '; pass --no-zones to import points as markers' : '';
    const reason = `geometry is ${typeOf(geometry)}, but a zone needs ${ZONE_TYPES.join(' or ')}${advice}`;
    throw new InvalidRow(reason, type === 'Point' ? 'point' : undefined);
  }
  const { key, properties } = keyOfFeature(feature, propertiesOfFeature(feature), options);
  const found = findParts(properties, { name: LABEL_NAMES.name }).name ?? null;
  const { nameColumn: field = found } = options;
  const isOwn = isFields(own) && options.nameColumn === undefined;
  const name = isOwn ? ownLabel('name', own['name']) : label(field ?? 'name', field && properties[field]);
  return withKey(key, { name, properties: isFields(own) ? properties : without(properties, [field]), geometry });
}

/** Creates a reader for the zones of a file. Throws BAD_USER_INPUT for CSV, which is not supported. */
export function zoneReader(path: string, format: FileFormat, options: ReadOptions): RowReader<ZoneRow> {
  if (format === 'csv') throw badInput('format', format, 'geojson or ndjson for zones');
  return jsonReader(path, format, (feature) => zoneOfFeature(feature, options), options, LONGEST_ZONE);
}

/** Opens the zones of a file, like `openMarkers`. Throws BAD_USER_INPUT for CSV, which is not supported. */
export async function openZones(
  path: string,
  format: FileFormat,
  options: ReadOptions = {},
  folder?: string,
): Promise<FileSource<ZoneRow>> {
  return openFile(path, zoneReader(path, format, options), folder);
}

/** Whether a value is a zone rather than a marker; undefined if it has no geometry. */
function isZone(value: unknown): { readonly zone: boolean | undefined } {
  if (!isFields(value)) return { zone: undefined };
  if (value['type'] !== 'Feature') return { zone: false };
  const { geometry } = value;
  return { zone: isFields(geometry) ? isZoneType(geometry['type']) : undefined };
}

/** Whether a file contains zones rather than markers, judged by its first geometry. */
export async function isZoneFile(path: string, format: FileFormat, encoding?: string): Promise<boolean> {
  await fileSize(path);
  if (format === 'csv') return false;
  for await (const rows of jsonReader(path, format, isZone, { encoding }, LONGEST_ZONE).rows()) {
    for (const { content } of rows) {
      if (!isInvalid(content) && content.zone !== undefined) return content.zone;
    }
  }
  return false;
}
