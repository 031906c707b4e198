import { closeSync, openSync, readSync } from 'node:fs';
import { basename, extname } from 'node:path';

import { badInput, CellportError } from '../../errors.js';
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

/** How to convert other formats. */
const ADVICE: Readonly<Record<string, string>> = {
  '.kml': 'in Google My Maps, export as CSV; elsewhere, convert it: `ogr2ogr places.geojson places.kml`',
  '.kmz': 'in Google My Maps, export as CSV; elsewhere, convert it: `ogr2ogr places.geojson places.kmz`',
  '.gpx': 'convert it: `ogr2ogr places.geojson places.gpx waypoints`',
  '.shp': 'convert it: `ogr2ogr -t_srs EPSG:4326 places.geojson places.shp`',
  '.gpkg': 'convert it: `ogr2ogr -t_srs EPSG:4326 places.geojson places.gpkg`',
  '.xlsx': 'in Excel, save it as CSV',
  '.xls': 'in Excel, save it as CSV',
  '.ods': 'in LibreOffice, save it as CSV',
};

/** Whether there is a file that begins with an object, a list or a record separator, perhaps after a byte order mark. */
function beginsLikeJson(path: string): boolean {
  try {
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(256);
      readSync(file, start);
      return ['{', '[', '\x1e'].includes(start.toString().trimStart().slice(0, 1));
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/** The extension of a file, before `.gz` if it is compressed. */
const extensionOf = (path: string) =>
  extname(isGzip(path) ? basename(path).slice(0, -GZIP.length) : path).toLowerCase();

/** The format of a file by its extension, before `.gz` if it is compressed. */
export const formatByExtension = (path: string): FileFormat | undefined => BY_EXTENSION[extensionOf(path)];

/** What may be the end of a file's name. */
export const EXTENSIONS = `${Object.keys(BY_EXTENSION).join(', ')}, with or without ${GZIP}`;

/** The format of a file by its extension, else by its beginning. Throws BAD_USER_INPUT if neither tells. */
export function formatOf(path: string): FileFormat {
  const format = formatByExtension(path);
  if (format !== undefined) return format;
  const extension = extensionOf(path);
  const advice = ADVICE[extension];
  if (advice !== undefined) {
    throw new CellportError('BAD_USER_INPUT', `${path}: ${extension} files are not supported; ${advice}`, {
      field: 'file',
    });
  }
  if (beginsLikeJson(path)) return 'geojson';
  throw badInput('file', path, `a file name ending in ${EXTENSIONS}; or pass --format`);
}
