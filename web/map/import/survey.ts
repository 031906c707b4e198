import type { Bounds } from '../../../src/client/public.js';
import type { ReadOptions } from '../../../src/ingest/rows/fields.js';
import { Notes } from '../../../src/ingest/rows/notes.js';
import { forPage, inColumn, type ImportRow } from './row.js';
import { readRows } from './rows.js';

/** Number of rows in the preview. */
const SHOWN_ROWS = 6;
/** Number of preview points on the map. */
const SHOWN_POINTS = 5_000;
/** Number of rejects kept for the list; further ones are only counted. */
const KEPT_REJECTS = 10_000;
const LONGEST_ROW_KEPT = 2_000;

/** A rejected row. */
export interface Reject {
  readonly line: number;
  readonly reason: string;
  /** The row as in the file, truncated if long. */
  readonly row: string;
}

/** The rejected rows of a file. */
export class Rejects {
  readonly kept: Reject[] = [];
  count = 0;

  add({ line, text, reason }: { readonly line: number; readonly text: string; readonly reason: string }): void {
    this.count += 1;
    if (this.kept.length < KEPT_REJECTS) this.kept.push({ line, reason, row: text.slice(0, LONGEST_ROW_KEPT) });
  }
}

type MarkerRow = Extract<ImportRow, { readonly marker: unknown }>;

/** Summary of a file's content. */
export interface Survey {
  /** Number of rows that can be imported. */
  readonly count: number;
  readonly first: readonly MarkerRow['marker'][];
  readonly points: readonly (readonly [lng: number, lat: number])[];
  readonly bounds: Bounds | undefined;
  /** What was guessed, dropped or skipped, in a sentence each. */
  readonly notes: readonly string[];
  /** Whether it also has areas or lines. */
  readonly hasZones: boolean;
  readonly rejects: Rejects;
  /** Whether to import a row: of several with the same key, only the first is imported. */
  readonly isFirst: (row: MarkerRow) => boolean;
}

export const positionOf = ({ marker: { position } }: Pick<MarkerRow, 'marker'>) =>
  [Number(position.lng), Number(position.lat)] as const;

/** Reads a file once. Throws like `readRows`, and the reason of `signal` when it is aborted. */
export async function surveyFile(
  file: File,
  options: ReadOptions,
  { signal, onRead }: { readonly signal: AbortSignal; readonly onRead: (part: number) => void },
): Promise<Survey> {
  const lineOf = new Map<string, number>();
  const rejects = new Rejects();
  const first: MarkerRow['marker'][] = [];
  const points: (readonly [number, number])[] = [];
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const notes = new Notes();
  const said: string[] = [];
  let hasZones = false;
  const progress = {
    onRead: (bytes: number) => onRead(bytes / Math.max(1, file.size)),
    onNote: (note: string) => void said.push(note),
  };
  for await (const rows of readRows(file, options, progress)) {
    signal.throwIfAborted();
    for (const row of rows) {
      if ('reason' in row) {
        notes.add({ content: row });
        hasZones ||= row.skipped !== undefined;
        rejects.add(row);
        continue;
      }
      const { key } = row.marker;
      const before = lineOf.get(key);
      if (before !== undefined) {
        const same = row.marker.keyFromContent
          ? 'duplicate of'
          : `key ${JSON.stringify(key)}${inColumn(options.keyColumn)} is already used on`;
        rejects.add({ ...row, reason: `${same} line ${before}` });
        continue;
      }
      lineOf.set(key, row.line);
      notes.add({ content: row.marker, texts: row.texts });
      const [lng, lat] = positionOf(row);
      [west, south, east, north] = [
        Math.min(west, lng),
        Math.min(south, lat),
        Math.max(east, lng),
        Math.max(north, lat),
      ];
      if (first.length < SHOWN_ROWS) first.push(row.marker);
      if (points.length < SHOWN_POINTS) points.push([lng, lat]);
    }
  }
  return {
    count: lineOf.size,
    first,
    points,
    bounds: lineOf.size > 0 ? { west, south, east, north } : undefined,
    notes: [...said, ...notes.lines()].map(forPage),
    hasZones,
    rejects,
    isFirst: (row) => lineOf.get(row.marker.key) === row.line,
  };
}
