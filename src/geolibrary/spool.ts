import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';

import { FileSource } from '../ingest/read/file-source.js';
import { jsonReader } from '../ingest/read/json-reader.js';
import type { RowSource } from '../ingest/read/row-source.js';
import { InvalidRow, isFields } from '../ingest/rows/fields.js';
import type { MarkerRow } from '../ingest/rows/marker-row.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../private-files.js';
import type { Database } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import { retryInBackground } from '../store/request/retries.js';
import { send } from '../store/request/send.js';
import { itemOfImage, type WireMap } from '../store/request/wire.js';
import { readGeoItem, type Attributes } from './item.js';
import type { TableLayout } from './layout.js';

const wireKey = z.record(z.string(), z.object({ S: z.string() }).or(z.object({ N: z.string() })));
const stateShape = z.object({
  /** The table being copied; the copy of another table is discarded. */
  identity: z.string(),
  /** When the copy was started, in milliseconds since 1970. */
  startedAt: z.number(),
  /** How many bytes of the file are valid. */
  bytes: z.number(),
  items: z.number(),
  /** Where each segment resumes, null for its start; `done` if it is complete. */
  segments: z.array(z.object({ start: wireKey.nullable(), done: z.boolean() })),
});
type State = z.infer<typeof stateShape>;

export interface SpoolJob {
  readonly database: Database;
  readonly layout: TableLayout;
  /** The copy; its state is stored next to it. */
  readonly path: string;
  /** Number of segments scanned in parallel. */
  readonly segments: number;
  readonly call: Call;
  readonly onProgress: (progress: SpoolProgress) => void;
}

export interface SpoolProgress {
  /** Items copied so far. */
  readonly items: number;
  /** Number of these that an earlier run copied. */
  readonly resumed: number;
}

/** Items per page: DynamoDB's own limit of 1 MB can take a slow engine longer than a request's deadline. */
const PAGE = 1000;
/** An older copy is discarded: the table may have changed much since. */
const LONGEST_MS = 86_400_000;

const stateOf = (path: string) => `${path}.state`;

async function readState(path: string, initial: State): Promise<State> {
  try {
    const state = stateShape.parse(JSON.parse(await readFile(stateOf(path), 'utf8')));
    const isUsable = state.identity === initial.identity && initial.startedAt - state.startedAt < LONGEST_MS;
    return isUsable ? state : initial;
  } catch {
    // The file is missing or truncated: the copy starts over.
    return initial;
  }
}

async function writeState(path: string, state: State): Promise<void> {
  const draft = `${stateOf(path)}.${process.pid}`;
  await writeFile(draft, JSON.stringify(state), { flush: true, ...PRIVATE_FILE });
  await rename(draft, stateOf(path));
}

const lineOf = (item: object) => `${JSON.stringify(item)}\n`;

/**
 * Copies all items of a table to a file, one per line in DynamoDB's JSON, by a parallel Scan that resumes where an
 * interrupted run stopped, less than a day after it began. Throttled reads are retried. Items written during the copy may or may not be included.
 */
export async function spoolTable(job: SpoolJob): Promise<SpoolProgress> {
  const { database, layout, path, call, onProgress } = job;
  await mkdir(dirname(path), PRIVATE_FOLDER);
  const segments = Array.from({ length: job.segments }, () => ({ start: null, done: false }));
  const initial: State = { identity: layout.id, startedAt: database.clock.wall(), bytes: 0, items: 0, segments };
  let state = await readState(path, initial);
  // Opens for appending; creates the file if necessary.
  const file = await open(path, 'a', PRIVATE_FILE.mode);
  // Writes one page at a time, so that the bytes that the state calls valid are complete.
  const inTurn = pLimit(1);
  try {
    // The state may be left over from a copy that was removed.
    if ((await file.stat()).size < state.bytes) state = initial;
    const resumed = state.items;
    const copy = async (segment: number): Promise<void> => {
      for (let at = state.segments[segment]; at && !at.done; at = state.segments[segment]) {
        const { start } = at;
        const request = {
          TableName: layout.table,
          Segment: segment,
          TotalSegments: state.segments.length,
          Limit: PAGE,
          ...(start === null ? {} : { ExclusiveStartKey: start }),
        };
        const { Items = [], LastEvaluatedKey: next } = await retryInBackground(
          () => send(database, 'wireScan', request, call),
          call.signal,
        );
        await inTurn(async () => {
          const bytes = Buffer.from(Items.map(lineOf).join(''));
          // Drops bytes left by an interrupted or failed write.
          await file.truncate(state.bytes);
          await file.writeFile(bytes);
          await file.sync();
          const went = { start: next === undefined ? null : wireKey.parse(next), done: next === undefined };
          state = {
            ...state,
            bytes: state.bytes + bytes.length,
            items: state.items + Items.length,
            segments: state.segments.map((other, index) => (index === segment ? went : other)),
          };
          await writeState(path, state);
        });
        onProgress({ items: state.items, resumed });
      }
    };
    const copies = await Promise.allSettled(state.segments.map((_, segment) => copy(segment)));
    const failed = copies.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return { items: state.items, resumed };
  } finally {
    await file.close();
  }
}

/** Removes the copy and its state. */
export async function removeSpool(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(stateOf(path), { force: true });
}

/** The marker in a line of the copy. Throws InvalidRow. */
function contentIn(value: unknown, attributes: Attributes): MarkerRow {
  if (!isFields(value)) throw new InvalidRow('not an item');
  const item = readGeoItem(itemOfImage(value as WireMap), attributes);
  if ('reason' in item) throw new InvalidRow(item.reason);
  const { key, position, name, category, properties } = item;
  return { key, position, name, category, properties, place: undefined };
}

/** The rows of a complete copy of `bytes` bytes. */
export function spoolRows(path: string, bytes: number, { attributes }: TableLayout): RowSource<MarkerRow> {
  return new FileSource(
    path,
    bytes,
    jsonReader<MarkerRow>(path, 'ndjson', (value) => contentIn(value, attributes)),
  );
}
