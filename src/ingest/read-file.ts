import { extname } from 'node:path';
import { badInput } from '../errors.js';
import { readCsv } from './csv.js';
import { readGeojson } from './geojson.js';
import { readNdjson } from './ndjson.js';
import type { ReadOptions, Row } from './row.js';

export const FILE_FORMATS = ['geojson', 'ndjson', 'csv'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const BY_EXTENSION: Readonly<Record<string, FileFormat>> = {
  '.geojson': 'geojson',
  '.json': 'geojson',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.geojsonl': 'ndjson',
  '.geojsons': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'csv',
};

const READERS = { geojson: readGeojson, ndjson: readNdjson, csv: readCsv } satisfies Record<FileFormat, unknown>;

/** The format that a file's name promises. Throws BAD_USER_INPUT where it promises none. */
export function formatOf(path: string): FileFormat {
  const format = BY_EXTENSION[extname(path).toLowerCase()];
  if (format === undefined) {
    throw badInput('file', path, `named ${Object.keys(BY_EXTENSION).join(', ')}, or imported with --format`);
  }
  return format;
}

/**
 * The rows of a file, read as a stream: what is held at a time does not grow with the file. Rows that are no markers come
 * with a reason; a file that is none of its format at all throws BAD_USER_INPUT.
 */
export function readFile(path: string, format: FileFormat, options: ReadOptions = {}): AsyncGenerator<Row> {
  return READERS[format](path, options);
}
