import { CellportError } from '../errors.js';
import type { Collection } from '../model/collection.js';
import type { Call } from '../store/database.js';
import { KeyLines } from './read/key-lines.js';
import type { Reject, RejectsFile } from './read/rejects.js';
import { isInvalid, RowOffsets, type Row, type RowSource } from './read/row.js';
import type { Keyed } from './rows/content-key.js';

export interface CheckProgress {
  /** Rows so far. */
  readonly rows: number;
  /** Fraction of the source that has been read, 0 to 1. */
  readonly part: number;
}

export interface CheckJob<C> {
  readonly collection: Collection;
  readonly source: RowSource<C>;
  readonly rejects: RejectsFile;
  readonly call: Call;
  readonly onChecked: (progress: CheckProgress) => void;
  /**
   * Called once all rows have been checked, before the first write; not if all are rejected. Returns the collection to
   * write to, which others may have created meanwhile.
   */
  readonly onValid?: ((rows: CheckedRows) => Promise<Collection>) | undefined;
}

/** All rows of a source that was read to its end. */
export interface CheckedRows {
  readonly keys: KeyLines;
  readonly rejected: number;
}

/** The valid rows of a source. */
export interface Checked {
  readonly collection: Collection;
  readonly offsets: RowOffsets;
  readonly rejected: number;
  /** The greatest key, if the collection generates its keys as a sequence; 0 otherwise. */
  readonly greatest: number;
}

/** The reason why a row is invalid; undefined if it is valid. */
async function faultOf<C extends Keyed>(
  { line, content }: Row<C>,
  check: (content: C) => unknown,
  lines: KeyLines,
  numbered: boolean,
): Promise<string | undefined> {
  if (isInvalid(content)) return content.reason;
  if (numbered && content.keyFromContent === true) {
    return 'no key: in a collection with numbered keys, each row needs its number; pass --key-column if another column has it';
  }
  try {
    await check(content);
  } catch (error) {
    if (error instanceof CellportError) return error.message;
    throw error;
  }
  // Only now: a rejected row takes no key.
  const first = lines.add(content.key, line);
  if (first === undefined) return undefined;
  return content.keyFromContent === true
    ? `duplicate of line ${first}, without a key`
    : `duplicate key ${JSON.stringify(content.key)}, first on line ${first}`;
}

/**
 * Finds the valid rows of a source. Rows for which `check` throws CellportError, and those that repeat a key, go to the
 * rejects file. Does not use the database. Takes 16 bytes of memory per row, and 40 more per key while it runs.
 */
export async function checkRows<C extends Keyed>(
  { collection, source, rejects: file, call, onChecked, onValid }: CheckJob<C>,
  check: (content: C) => unknown,
): Promise<Checked> {
  const generatesKeys = collection.idStrategy === 'SEQUENCE';
  const lines = new KeyLines();
  const offsets = new RowOffsets();
  let rejected = 0;
  let greatest = 0;
  await file.begin();
  try {
    for await (const rows of source.scan()) {
      call.signal?.throwIfAborted();
      const rejects: Reject[] = [];
      for (const row of rows) {
        const reason = await faultOf(row, check, lines, generatesKeys);
        if (reason !== undefined) rejects.push({ line: row.line, reason, text: row.text, isJson: row.isJson });
        else {
          offsets.push(row);
          if (generatesKeys && !isInvalid(row.content)) greatest = Math.max(greatest, Number(row.content.key));
        }
      }
      await file.write(rejects);
      rejected += rejects.length;
      const last = rows.at(-1);
      if (last === undefined) continue;
      const part = (last.start + last.length) / Math.max(1, source.size);
      onChecked({ rows: offsets.count + rejected, part });
    }
  } finally {
    await file.close();
  }
  const hasValid = offsets.count > 0 || rejected === 0;
  const target = hasValid ? await onValid?.({ keys: lines, rejected }) : undefined;
  return { collection: target ?? collection, offsets, rejected, greatest };
}
