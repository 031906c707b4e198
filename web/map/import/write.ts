import { ViewportError } from '../../../src/client/public.js';
import { send } from '../../../src/client/request.js';
import type { ReadOptions } from '../../../src/ingest/rows/fields.js';
import { retry } from '../../../src/retry.js';
import { UPSERT } from '../api/documents.js';
import { SERVER } from '../api/graphql.js';
import type { ImportRow } from './row.js';
import { readRows } from './rows.js';
import type { Rejects, Survey } from './survey.js';

/**
 * Maximum rows and characters per request: one transaction of the embedded engine, well within the deadline even on a
 * busy one.
 */
const BATCH_ROWS = 100;
const BATCH_CHARACTERS = 1_000_000;
/** More than a minute in all: long enough for a restart of the server. */
const RETRIES = { attempts: 10, firstMs: 1_000, longestMs: 30_000 };

export interface Written {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

interface Result extends Written {
  readonly failures: readonly { readonly index: number; readonly message: string }[];
}

/** A row with its input for the API. */
interface Entry {
  readonly row: Extract<ImportRow, { readonly marker: unknown }>;
  readonly input: object;
  readonly size: number;
}

export interface WriteOptions {
  readonly file: File;
  readonly options: ReadOptions;
  readonly survey: Survey;
  /** Key of the collection. */
  readonly collection: string;
  /** Collects the rows that the server rejects. */
  readonly rejects: Rejects;
  readonly signal: AbortSignal;
  readonly onProgress: (written: Written, rows: number) => void;
}

const isTransient = (error: unknown) =>
  error instanceof ViewportError && (error.code === 'THROTTLED' || error.code === 'UNAVAILABLE');

const retryAfterMs = (error: unknown) => (error instanceof ViewportError ? error.retryAfterMs : undefined);

/** Sends one request, and repeats it while the server is busy or unreachable: writing a batch twice changes nothing. */
function upsert(collection: string, entries: readonly Entry[], signal: AbortSignal): Promise<Result> {
  const variables = { collection, markers: entries.map(({ input }) => input) };
  const write = async () => {
    const { data, error } = await send(SERVER, UPSERT, variables, signal);
    if (error) throw error;
    return (data as { readonly upsertMarkers: Result }).upsertMarkers;
  };
  return retry(write, { ...RETRIES, retryable: isTransient, retryAfterMs, signal });
}

const sum = (a: Written, b: Written): Written => ({
  created: a.created + b.created,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
});

const NOTHING: Written = { created: 0, updated: 0, unchanged: 0 };

/** Writes rows; if one of them makes the server reject the whole batch, finds out which. */
async function writeBatch(options: WriteOptions, entries: readonly Entry[]): Promise<Written> {
  const { collection, rejects, signal } = options;
  try {
    const { failures, created, updated, unchanged } = await upsert(collection, entries, signal);
    for (const { index, message } of failures) {
      const entry = entries[index];
      if (entry) rejects.add({ ...entry.row, reason: message });
    }
    return { created, updated, unchanged };
  } catch (error) {
    const isRefused = error instanceof ViewportError && ['BAD_USER_INPUT', 'LIMIT_EXCEEDED'].includes(error.code);
    const [first, ...more] = entries;
    if (!isRefused || first === undefined) throw error;
    if (more.length === 0) {
      rejects.add({ ...first.row, reason: error.message });
      return NOTHING;
    }
    const middle = entries.length >> 1;
    return sum(await writeBatch(options, entries.slice(0, middle)), await writeBatch(options, entries.slice(middle)));
  }
}

/** Reads the file again and writes its rows. Rejects with ViewportError, or with the reason of `signal`. */
export async function writeFile(options: WriteOptions): Promise<Written> {
  const { file, survey, signal, onProgress } = options;
  let total = NOTHING;
  let done = 0;
  let batch: Entry[] = [];
  let size = 0;
  const flush = async () => {
    signal.throwIfAborted();
    if (batch.length === 0) return;
    total = sum(total, await writeBatch(options, batch));
    done += batch.length;
    batch = [];
    size = 0;
    onProgress(total, done);
  };
  for await (const rows of readRows(file, options.options)) {
    for (const row of rows) {
      if ('reason' in row || !survey.isFirst(row)) continue;
      const entry = entryOf(row);
      if (batch.length >= BATCH_ROWS || size + entry.size > BATCH_CHARACTERS) await flush();
      batch.push(entry);
      size += entry.size;
    }
  }
  await flush();
  return total;
}

/** The input for a row. */
function entryOf(row: Entry['row']): Entry {
  const { keyFromContent: _key, hasElevation: _elevation, ...input } = row.marker;
  return { row, input, size: JSON.stringify(input).length };
}
