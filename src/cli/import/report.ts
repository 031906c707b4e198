import { stat } from 'node:fs/promises';

import { badInput, CellportError } from '../../errors.js';
import { RejectsFile } from '../../ingest/read/rejects.js';
import { openTables } from '../../store/table/tables.js';
import { changing } from '../changing.js';
import { Interrupted } from '../failure.js';
import { duration, grouped, importBars, printable, sum, type ImportBars } from '../progress.js';
import type { CommandSession } from '../session.js';

/** Options of every import. */
export interface ReportOptions {
  readonly collection: string;
  readonly rejects?: string;
}

/** The result of an import. */
export interface ImportOutcome {
  /** Number of rows by outcome, including `rejected`. */
  readonly counts: Readonly<Record<string, number>> & { readonly rejected: number };
  /** Whether the import created the collection. */
  readonly created?: boolean;
  /** Rows completed by an interrupted import. */
  readonly resumed?: number;
  /** Duration in milliseconds. */
  readonly took: number;
  /** What was guessed, dropped or skipped. */
  readonly notes?: readonly string[] | undefined;
}

/** An import in progress. */
export interface ImportRun {
  readonly session: CommandSession;
  /** See `OpenedTables`. */
  readonly table: string;
  readonly rejects: RejectsFile;
  readonly bars: ImportBars;
  /** Prints the result. Throws BAD_USER_INPUT if all rows are rejected. */
  readonly report: (outcome: ImportOutcome) => void;
}

export interface Import {
  /** Name of the file or table. */
  readonly name: string;
  /** What each row describes. */
  readonly what: 'marker' | 'zone' | 'reading';
  /** What repeating the command does after an interruption. */
  readonly resume: string;
}

/** Throws BAD_USER_INPUT if the file of rejects is the one that is imported. */
async function checkApart(source: string, rejects: string): Promise<void> {
  const [from, to] = await Promise.all([source, rejects].map((path) => stat(path).catch(() => undefined)));
  if (from === undefined || from.dev !== to?.dev || from.ino !== to.ino) return;
  throw badInput('--rejects', rejects, 'a file other than the one that is imported');
}

/** Runs an import on the configured database; creates missing tables. */
export async function runImport(
  { name, what, resume }: Import,
  options: ReportOptions,
  work: (run: ImportRun) => Promise<void>,
): Promise<void> {
  const rejects = new RejectsFile(options.rejects ?? `${name}.rejects.ndjson`);
  await checkApart(name, rejects.path);
  const bars = importBars(options.collection);

  function report({ counts, created = false, resumed = 0, took, notes = [] }: ImportOutcome, where: string): void {
    bars.end();
    const all = sum(counts);
    const isRefused = all > 0 && counts.rejected === all;
    const isNew = created && !isRefused;
    console.log(`${name}: ${what}s for collection ${options.collection}${isNew ? ' (created)' : ''}, ${where}`);
    if (resumed > 0) console.log(`resumed after ${grouped(resumed)} rows that an interrupted import had written`);
    const parts = Object.entries(counts).map(([outcome, count]) => `${grouped(count)} ${outcome}`);
    console.log(`${grouped(all)} rows in ${duration(took)}: ${parts.join(', ')}`);
    for (const note of notes) console.log(printable(note));
    if (counts.rejected > 0) console.log(`rejected rows, with line and reason: ${rejects.path}`);
    if (isRefused) {
      throw new CellportError('BAD_USER_INPUT', `no row of ${name} is a ${what}; see ${rejects.path} for the reasons`);
    }
  }

  try {
    await changing({ what: 'import', collection: options.collection }, async (session) => {
      const { table } = await openTables(session.database);
      await work({ session, table, rejects, bars, report: (outcome) => report(outcome, session.where) });
    });
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    throw new Interrupted(`${error.message}; ${resume}`);
  } finally {
    bars.end();
  }
}
