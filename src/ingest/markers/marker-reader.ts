import { badInput } from '../../errors.js';
import { tableReader } from '../read/csv.js';
import type { FileFormat } from '../read/file-format.js';
import { openFile, type FileSource } from '../read/file-source.js';
import { jsonReader } from '../read/json-reader.js';
import type { RowReader } from '../read/row.js';
import type { ReadOptions } from '../rows/fields.js';
import { markerOfValue, type MarkerRow } from '../rows/marker-row.js';
import { markerTable } from '../rows/marker-table.js';

/** Creates a reader for the markers of a file. Throws BAD_USER_INPUT if an option is not for its format. */
export function markerReader(path: string, format: FileFormat, options: ReadOptions): RowReader<MarkerRow> {
  if (format === 'csv') return tableReader(path, markerTable(path, options), options.encoding);
  if (options.textColumn ?? options.numberColumn) {
    throw badInput('--text-column and --number-column', format, 'for CSV: the values of other formats have types');
  }
  return jsonReader(path, format, (value) => markerOfValue(value, options), options);
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
): Promise<FileSource<MarkerRow>> {
  return openFile(path, markerReader(path, format, options), folder);
}
