import type { FileFormat } from '../read/file-format.js';
import { tableReader } from '../read/csv.js';
import { openFile } from '../read/file-source.js';
import { featureReader } from '../read/geojson.js';
import { valueReader } from '../read/ndjson.js';
import type { RowSource } from '../read/row-source.js';
import type { RowReader } from '../read/row.js';
import type { ReadOptions } from '../rows/fields.js';
import { type MarkerRow, markerOfFeature, markerOfValue } from '../rows/marker-row.js';
import { markerTable } from '../rows/marker-table.js';

/** Creates a reader for the markers of a file. */
export function markerReader(path: string, format: FileFormat, options: ReadOptions): RowReader<MarkerRow> {
  if (format === 'csv') return tableReader(path, markerTable(path, options));
  if (format === 'ndjson') return valueReader(path, (value) => markerOfValue(value, options));
  return featureReader(path, (feature) => markerOfFeature(feature, options));
}

/**
 * Opens the markers of a file; `folder` is for temporary files. Throws BAD_USER_INPUT if there is no such file;
 * scanning throws it if the file as a whole is not in its format.
 */
export function openMarkers(
  path: string,
  format: FileFormat,
  options: ReadOptions = {},
  folder?: string,
): Promise<RowSource<MarkerRow>> {
  return openFile(path, markerReader(path, format, options), folder);
}
