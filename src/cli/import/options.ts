import type { FileFormat } from '../../ingest/read/file-format.js';
import type { ReadOptions } from '../../ingest/rows/fields.js';
import type { IdStrategy } from '../../model/collection.js';
import type { CollectionInput } from '../../store/collection/collection-item.js';
import type { ReportOptions } from './report.js';

/** Options of `import`. */
export interface ImportOptions extends ReportOptions, ReadOptions {
  /** The table whose items are imported; the file is then their mapping. */
  readonly fromTable?: string;
  readonly readings?: boolean;
  /** Whether to wait for counts even if a running server updates them. */
  readonly wait?: boolean;
  /** Whether to remove markers that the file no longer has, with `yes` even most of them. */
  readonly prune?: boolean;
  readonly yes?: boolean;
  /** Detected from the file by default. */
  readonly zones?: boolean;
  readonly format?: FileFormat;
  readonly name?: string;
  readonly code?: string;
  readonly idStrategy?: Lowercase<IdStrategy>;
  readonly mapProperty?: readonly string[];
  readonly prefixLength?: number;
  readonly writeShards?: number;
  readonly geoIndex?: boolean;
}

/** The collection that an import creates if it is missing. */
export function collectionInput(options: ImportOptions): CollectionInput {
  return {
    key: options.collection,
    name: options.name ?? options.collection,
    code: options.code,
    idStrategy: options.idStrategy?.toUpperCase() as IdStrategy | undefined,
    mapProperties: options.mapProperty,
    prefixLength: options.prefixLength,
    writeShards: options.writeShards,
    geoIndex: options.geoIndex,
  };
}
