import { type Delimiter, type TableKind, columnMissing, tableReader } from '../read/csv.js';
import { isExportedTable, markerOfCells } from './exported-csv.js';
import type { FileFormat } from '../read/file-format.js';
import { openFile } from '../read/file-source.js';
import { featureReader } from '../read/geojson.js';
import { valueReader } from '../read/ndjson.js';
import type { RowSource } from '../read/row-source.js';
import { type Fields, type ReadOptions, InvalidRow, type RowReader, isFields } from '../read/row.js';
import {
  type FieldMap,
  FIELD_NAMES,
  type MarkerRow,
  mapFields,
  markerOfFeature,
  markerOfFields,
} from './marker-row.js';

/** Moves the fields of the objects `position` and `properties`, as in the API, to the top. Throws InvalidRow. */
function flatten(fields: Fields): Fields {
  const { position, properties, ...rest } = fields;
  const flat = new Map(Object.entries(rest));
  const parts = [
    ['position', position],
    ['properties', properties],
  ] as const;
  for (const [name, part] of parts) {
    if (part === undefined || part === null) continue;
    if (!isFields(part)) throw new InvalidRow(`${name} is not an object`);
    for (const [field, value] of Object.entries(part)) {
      if (flat.has(field)) throw new InvalidRow(`duplicate field ${field}, also in ${name}`);
      flat.set(field, value);
    }
  }
  return Object.fromEntries(flat);
}

/** A marker from a line: a GeoJSON Feature, or an object with key, lng, lat and other fields. Throws InvalidRow. */
function markerOfValue(value: unknown, options: ReadOptions): MarkerRow {
  if (!isFields(value)) throw new InvalidRow('not a JSON object');
  if (value['type'] === 'Feature') return markerOfFeature(value, options);
  const fields = flatten(value);
  return markerOfFields(fields, mapFields(Object.keys(fields), options), options);
}

/** The column that holds each part of a marker. Throws BAD_USER_INPUT if one is missing. */
function mapColumns(path: string, names: readonly string[], options: ReadOptions): FieldMap {
  const map = mapFields(names, options);
  for (const part of ['key', 'lng', 'lat'] as const) {
    if (map[part] !== undefined) continue;
    const keyField = part === 'key' ? options.keyField : undefined;
    throw columnMissing(path, keyField === undefined ? FIELD_NAMES[part] : [keyField], names);
  }
  return map;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Degrees; unless the delimiter is a comma, 52,4 means 52.4. Anything that is not a decimal number stays text. */
function degrees(text: string, delimiter: Delimiter): unknown {
  const plain = delimiter === ',' ? text.trim() : text.trim().replace(',', '.');
  return DECIMAL.test(plain) ? Number(plain) : text;
}

/** A number if the text is exactly how that number is written, so that `007` and long IDs stay text. */
function propertyValue(text: string): string | number {
  const value = Number(text);
  return String(value) === text && Number.isFinite(value) ? value : text;
}

/** A place if the cell is a JSON list, `["Berlin", "D", "4"]`. */
function placeValue(text: string): unknown {
  if (!text.startsWith('[')) return propertyValue(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The values of a record by column; empty cells are omitted. */
function fieldsOf(cells: readonly string[], names: readonly string[], map: FieldMap, delimiter: Delimiter): Fields {
  const valueOf = (name: string, cell: string): unknown => {
    if (name === map.lng || name === map.lat) return degrees(cell, delimiter);
    if (name === map.place) return placeValue(cell);
    return name === map.key || name === map.name || name === map.category ? cell : propertyValue(cell);
  };
  const filled = names.map((name, at) => [name, cells[at] ?? ''] as const).filter(([, cell]) => cell !== '');
  return Object.fromEntries(filled.map(([name, cell]) => [name, valueOf(name, cell)]));
}

const markerTable =
  (path: string, options: ReadOptions): TableKind<MarkerRow> =>
  (columns, delimiter) => {
    if (isExportedTable(columns) && options.keyField === undefined) {
      return (cells) => markerOfCells(cells, (cell) => degrees(cell, delimiter));
    }
    const map = mapColumns(path, columns, options);
    return (cells) => markerOfFields(fieldsOf(cells, columns, map, delimiter), map, options);
  };

/** Reads the markers of a file. */
export function markerReader(path: string, format: FileFormat, options: ReadOptions): RowReader<MarkerRow> {
  if (format === 'csv') return tableReader(path, markerTable(path, options));
  if (format === 'ndjson') return valueReader(path, (value) => markerOfValue(value, options));
  return featureReader(path, (feature) => markerOfFeature(feature, options));
}

/**
 * The markers of a file; `folder` is for temporary files. Scanning throws BAD_USER_INPUT if the file as a whole is not of
 * its format. Throws BAD_USER_INPUT if there is no such file.
 */
export function openMarkers(
  path: string,
  format: FileFormat,
  options: ReadOptions = {},
  folder?: string,
): Promise<RowSource<MarkerRow>> {
  return openFile(path, markerReader(path, format, options), folder);
}
