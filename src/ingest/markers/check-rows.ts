import { CellportError } from '../../errors.js';
import type { Collection } from '../../model/collection.js';
import type { Database, Item } from '../../store/database.js';
import { newMarkerItem } from '../../store/marker/marker-item.js';
import { checkImportedKey } from '../../store/marker/marker-keys.js';
import { RowOffsets } from '../read/row-offset.js';
import type { Reject, RejectsFile } from '../read/rejects.js';
import type { RowSource } from '../read/row-source.js';
import { type Row, isReason } from '../read/row.js';
import type { MarkerRow } from './marker-row.js';
import { SeenKeys } from '../read/seen-keys.js';

/** How far the rows are checked. */
export interface CheckProgress {
  /** Rows so far. */
  readonly rows: number;
  /** The part of the source, 0 to 1. */
  readonly part: number;
}

export interface CheckJob<C = MarkerRow> {
  readonly database: Pick<Database, 'keys'>;
  readonly collection: Collection;
  readonly source: RowSource<C>;
  readonly rejects: RejectsFile;
  readonly signal: AbortSignal | undefined;
  readonly onChecked: (progress: CheckProgress) => void;
}

/** What rows have to be. */
export interface RowRules<C> {
  readonly keyOf: (content: C) => string;
  /** Throws, or rejects with, CellportError where the store would not have it. */
  readonly check: (content: C) => unknown;
}

/** What came of checking all rows. */
export interface Checked {
  /** Of the rows that are what they have to be. */
  readonly places: RowOffsets;
  readonly rejected: number;
  /** The greatest of the keys of a collection that counts what is in it; 0 without any. */
  readonly greatest: number;
}

/** The item of a row. Throws CellportError where the store would not have it; `now` is RFC 3339 in UTC. */
export function itemOf(job: Pick<CheckJob, 'database' | 'collection'>, marker: MarkerRow, now: string): Item {
  checkImportedKey(job.collection, marker.key);
  return newMarkerItem(job.database, job.collection, marker as Parameters<typeof newMarkerItem>[2], now);
}

/** What markers of the collection have to be. */
export function markerRules(job: Pick<CheckJob, 'database' | 'collection'>): RowRules<MarkerRow> {
  return { keyOf: ({ key }) => key, check: (row) => itemOf(job, row, '') };
}

/** Why a row is not what it has to be, undefined where it is. */
async function faultOf<C extends object>(
  { keyOf, check }: RowRules<C>,
  { line, content }: Row<C>,
  seen: SeenKeys,
): Promise<string | undefined> {
  if (isReason(content)) return content.reason;
  const key = keyOf(content);
  const before = seen.add(key, line);
  try {
    await check(content);
  } catch (error) {
    if (error instanceof CellportError) return error.message;
    throw error;
  }
  return before === undefined ? undefined : `its key ${JSON.stringify(key)} stands on line ${before} already`;
}

/**
 * Reads all rows and tells which are what they have to be; the others, and those whose key stood on an earlier line, go to
 * the rejects file. Nothing is asked of the database. Holds 16 bytes a row when it is through, and some 40 more for each
 * key until then.
 */
export async function checkRows<C extends object>(job: CheckJob<C>, rules: RowRules<C>): Promise<Checked> {
  const counts = job.collection.idStrategy === 'SEQUENCE';
  const seen = new SeenKeys();
  const places = new RowOffsets();
  let rejected = 0;
  let greatest = 0;
  await job.rejects.begin();
  try {
    for await (const rows of job.source.scan()) {
      job.signal?.throwIfAborted();
      const rejects: Reject[] = [];
      for (const row of rows) {
        const reason = await faultOf(rules, row, seen);
        if (reason !== undefined) rejects.push({ line: row.line, reason, row: row.source });
        else {
          places.push(row);
          if (counts && !isReason(row.content)) greatest = Math.max(greatest, Number(rules.keyOf(row.content)));
        }
      }
      await job.rejects.write(rejects);
      rejected += rejects.length;
      const last = rows.at(-1);
      if (last !== undefined) {
        const part = (last.start + last.length) / Math.max(1, job.source.size);
        job.onChecked({ rows: places.count + rejected, part });
      }
    }
  } finally {
    await job.rejects.close();
  }
  return { places, rejected, greatest };
}
