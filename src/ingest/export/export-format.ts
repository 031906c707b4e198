import { extname } from 'node:path';

import { FILE_FORMATS, formatOf, type FileFormat } from '../read/file-format.js';

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

/** The format of a file by its extension. Throws BAD_USER_INPUT if that does not tell. */
export const exportFormatOf = (path: string): ExportFormat =>
  BY_EXTENSION[extname(path).toLowerCase()] ?? formatOf(path);
