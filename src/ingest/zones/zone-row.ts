import { badInput } from '../../errors.js';
import { ZONE_TYPES } from '../../geo/zone-geometry.js';
import type { Properties } from '../../model/marker.js';
import { featureReader } from '../read/geojson.js';
import { valueReader } from '../read/ndjson.js';
import type { FileFormat } from '../read/file-format.js';
import { fileSize, openFile } from '../read/file-source.js';
import type { RowSource } from '../read/row-source.js';
import { type ReadValue, type RowReader, isInvalid } from '../read/row.js';
import { type Keyed, withKey } from '../rows/content-key.js';
import {
  InvalidRow,
  type ReadOptions,
  isFields,
  label,
  ownLabel,
  partsOfFeature,
  typeOf,
  without,
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
 * Parses a zone from a GeoJSON Feature: `id` is the key, `name` comes from its properties, the rest stay properties. If
 * it has a member `cellport`, as `export` writes it, the name comes from there, and all properties stay. Throws
 * InvalidRow.
 */
function zoneOfFeature(feature: unknown, options: ReadOptions): ZoneRow {
  const { geometry, key, properties, own } = partsOfFeature(feature, options);
  const { type } = geometry;
  if (!isZoneType(type)) {
    const advice = type === 'Point' ? '; pass --no-zones to import points as markers' : '';
    throw new InvalidRow(`geometry is ${typeOf(geometry)}, but a zone needs ${ZONE_TYPES.join(' or ')}${advice}`);
  }
  const named = isFields(own)
    ? { name: ownLabel('name', own['name']), properties }
    : { name: label('name', properties['name']), properties: without(properties, ['name']) };
  return withKey(key(), { ...named, geometry });
}

function jsonReader<C>(path: string, format: Exclude<FileFormat, 'csv'>, read: ReadValue<C>): RowReader<C> {
  return (format === 'geojson' ? featureReader : valueReader)(path, read, LONGEST_ZONE);
}

/** Creates a reader for the zones of a file. Throws BAD_USER_INPUT for CSV, which is not supported. */
export function zoneReader(path: string, format: FileFormat, options: ReadOptions): RowReader<ZoneRow> {
  if (format === 'csv') throw badInput('format', format, 'geojson or ndjson for zones');
  return jsonReader(path, format, (feature) => zoneOfFeature(feature, options));
}

/** Opens the zones of a file, like `openMarkers`. Throws BAD_USER_INPUT for CSV, which is not supported. */
export async function openZones(
  path: string,
  format: FileFormat,
  options: ReadOptions = {},
  folder?: string,
): Promise<RowSource<ZoneRow>> {
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
export async function isZoneFile(path: string, format: FileFormat): Promise<boolean> {
  await fileSize(path);
  if (format === 'csv') return false;
  for await (const rows of jsonReader(path, format, isZone).rows()) {
    for (const { content } of rows) {
      if (!isInvalid(content) && content.zone !== undefined) return content.zone;
    }
  }
  return false;
}
