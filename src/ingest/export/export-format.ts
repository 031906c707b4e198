import { extname } from 'node:path';

import { badInput } from '../../errors.js';
import { EXTENSIONS, FILE_FORMATS, formatByExtension, type FileFormat } from '../read/file-format.js';

/** Formats with typed columns, which import does not read. */
const TABLE_FORMATS = ['flatgeobuf', 'geoparquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

export const EXPORT_FORMATS = [...FILE_FORMATS, ...TABLE_FORMATS] as const;
export type ExportFormat = FileFormat | TableFormat;

const BY_EXTENSION: Readonly<Record<string, TableFormat>> = {
  '.fgb': 'flatgeobuf',
  '.parquet': 'geoparquet',
  '.geoparquet': 'geoparquet',
};

export const isTableFormat = (format: ExportFormat): format is TableFormat =>
  TABLE_FORMATS.some((each) => each === format);

/** The format of a file by its extension: it may not exist yet, or have other content. Throws BAD_USER_INPUT. */
export function exportFormatOf(path: string): ExportFormat {
  const format = BY_EXTENSION[extname(path).toLowerCase()] ?? formatByExtension(path);
  if (format !== undefined) return format;
  const tables = Object.keys(BY_EXTENSION).join(', ');
  throw badInput('--out', path, `a file name ending in ${tables}, or in ${EXTENSIONS}; or pass --format`);
}
