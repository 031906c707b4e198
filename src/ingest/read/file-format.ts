import { basename, extname } from 'node:path';

import { badInput } from '../../errors.js';
import { GZIP, isGzip } from './gzip.js';

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

/** The format of a file by its extension, before `.gz` if it is compressed. Throws BAD_USER_INPUT for an unknown one. */
export function formatOf(path: string): FileFormat {
  const name = isGzip(path) ? basename(path).slice(0, -GZIP.length) : path;
  const format = BY_EXTENSION[extname(name).toLowerCase()];
  if (format !== undefined) return format;
  const known = Object.keys(BY_EXTENSION).join(', ');
  throw badInput('file', path, `a file name ending in ${known}, with or without ${GZIP}; or pass --format`);
}
