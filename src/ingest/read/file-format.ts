import { extname } from 'node:path';

import { badInput } from '../../errors.js';

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

/** The format of a file by its extension. Throws BAD_USER_INPUT for an unknown extension. */
export function formatOf(path: string): FileFormat {
  const format = BY_EXTENSION[extname(path).toLowerCase()];
  if (format !== undefined) return format;
  throw badInput('file', path, `a file name ending in ${Object.keys(BY_EXTENSION).join(', ')}; or pass --format`);
}
