import { systemClock } from '../clock.js';

const REDRAW_MS = 100;
/** Interval between lines if the output is not a terminal. */
const LINE_MS = 5000;
const BAR_WIDTH = 24;

/** Formats an integer with separators, for example 49,025. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Formats a duration, for example 3 s, 2 min 10 s or 1 h 5 min. */
export function duration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Text for a terminal: control characters, with which a file could change what the terminal shows or does, become JSON
 * escapes. Line feeds and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The lines of a table with aligned columns, those chosen by `isText` to the left and the others to the right. */
export function aligned(rows: readonly (readonly string[])[], isText: (column: number) => boolean): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}

export interface Done {
  /** Rows so far. */
  readonly rows: number;
  /** Rows completed by an earlier run. */
  readonly resumed: number;
  /** Fraction completed, 0 to 1. */
  readonly part: number;
}

/** A line with the progress, the rate and the remaining time; `ms` is the elapsed time. */
export function progressLine(label: string, { rows, resumed, part }: Done, startPart: number, ms: number): string {
  const filled = Math.round(Math.min(1, part) * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const rate = ms > 0 ? ((rows - resumed) / ms) * 1000 : 0;
  const pace = ms > 0 ? (part - startPart) / ms : 0;
  const left = pace > 0 && part < 1 ? `, ${duration((1 - part) / pace)} left` : '';
  return `${label} ${bar} ${Math.floor(part * 100)}%  ${grouped(rows)}, ${grouped(rate)}/s${left}`;
}

export interface ProgressBar {
  update(done: Done): void;
  /** Removes the bar, so that the next line replaces it. */
  end(): void;
}

/** A progress bar on standard error: redrawn on a terminal, otherwise a line every 5 s. */
export function progressBar(label: string, stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  const began = systemClock.now();
  let startPart: number | undefined;
  let drawn = stream.isTTY ? -Infinity : began;
  return {
    update(done) {
      startPart ??= done.part;
      const now = systemClock.now();
      if (now - drawn < (stream.isTTY ? REDRAW_MS : LINE_MS)) return;
      drawn = now;
      const line = progressLine(label, done, startPart, now - began);
      stream.write(stream.isTTY ? `\r\x1b[K${line.slice(0, (stream.columns || 80) - 1)}` : `${line}\n`);
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
  };
}

/** Progress bars of an import: one while rows are checked, then one while they are written. */
export interface ImportBars {
  readonly onChecked: (progress: { readonly rows: number; readonly part: number }) => void;
  readonly onProgress: (progress: {
    readonly counts: Readonly<Record<string, number>>;
    readonly resumed?: number;
    readonly part: number;
  }) => void;
  readonly end: () => void;
}

export function importBars(label: string): ImportBars {
  // Created on first use, because a bar measures its rate from its creation.
  let checking: ProgressBar | undefined;
  let writing: ProgressBar | undefined;
  return {
    onChecked({ rows, part }) {
      checking ??= progressBar(`${label}, checking`);
      checking.update({ rows, resumed: 0, part });
    },
    onProgress({ counts, resumed = 0, part }) {
      if (writing === undefined) checking?.end();
      writing ??= progressBar(label);
      writing.update({ rows: sum({ ...counts, rejected: 0 }), resumed, part });
    },
    end: () => (writing ?? checking)?.end(),
  };
}

/** The sum of all counts. */
export function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
