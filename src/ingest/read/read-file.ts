import { stat } from 'node:fs/promises';
import { extname } from 'node:path';

import { badInput } from '../../errors.js';
import { csvReader } from './csv.js';
import { geojsonReader } from './geojson.js';
import { ndjsonReader } from './ndjson.js';
import { FileSource } from './file-source.js';
import type { ReadOptions } from './row.js';
import type { RowSource } from './row-source.js';
import { type ZoneRow, holdsZones, zoneReader } from '../zones/zone-row.js';

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

const READERS = { geojson: geojsonReader, ndjson: ndjsonReader, csv: csvReader } satisfies Record<FileFormat, unknown>;

/** The format that a file's name promises. Throws BAD_USER_INPUT where it promises none. */
export function formatOf(path: string): FileFormat {
  const format = BY_EXTENSION[extname(path).toLowerCase()];
  if (format === undefined) {
    throw badInput('file', path, `named ${Object.keys(BY_EXTENSION).join(', ')}, or told by --format`);
  }
  return format;
}

/** The size of a file in bytes. Throws BAD_USER_INPUT where there is no such file. */
async function sizeOf(path: string): Promise<number> {
  const file = await stat(path).catch((error: Error) => {
    throw badInput('file', path, `one that can be read (${error.message})`);
  });
  if (!file.isFile()) throw badInput('file', path, 'a file');
  return file.size;
}

/**
 * The markers of a file. Rows that are none come with a reason; a file that is none of its format at all throws
 * BAD_USER_INPUT when it is scanned. Throws BAD_USER_INPUT here where there is no such file.
 */
export async function openRows(path: string, format: FileFormat, options: ReadOptions = {}): Promise<RowSource> {
  return new FileSource(path, await sizeOf(path), READERS[format](path, options));
}

/** The zones of a file, as `openRows` gives markers. Throws BAD_USER_INPUT for a format that holds no zones, too. */
export async function openZones(
  path: string,
  format: FileFormat,
  options: ReadOptions = {},
): Promise<RowSource<ZoneRow>> {
  return new FileSource(path, await sizeOf(path), zoneReader(path, format, options));
}

/** Whether a file holds zones rather than markers, see `holdsZones`. Throws as `openRows` does. */
export async function isZoneFile(path: string, format: FileFormat): Promise<boolean> {
  await sizeOf(path);
  return holdsZones(path, format);
}
