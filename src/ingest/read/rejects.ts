import { lstat, open, rm, type FileHandle } from 'node:fs/promises';
import { CellportError } from '../../errors.js';

/** A row that was not imported. */
export interface Reject {
  readonly line: number;
  readonly reason: string;
  readonly row: unknown;
}

const LONGEST_ROW_SHOWN = 20_000;

/** The row, truncated if it is long: rejected rows of megabytes must not fill the disk. */
function shown(row: unknown): unknown {
  const text = typeof row === 'string' ? row : JSON.stringify(row, withBigints);
  if (text === undefined || text.length <= LONGEST_ROW_SHOWN) return row;
  return `${text.slice(0, LONGEST_ROW_SHOWN)}…`;
}

const withBigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** The file of rejected rows, one JSON object per line; created with the first row. */
export class RejectsFile {
  readonly path: string;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Removes the file of an earlier run. */
  async begin(): Promise<void> {
    try {
      // Only a regular file: the path may be a device or a link.
      const existing = await lstat(this.path).catch(() => undefined);
      if (existing?.isFile() === true) await rm(this.path, { force: true });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Appends rejects. Throws UNAVAILABLE if the file cannot be written, e.g. on a full disk. */
  async write(rejects: readonly Reject[]): Promise<void> {
    if (rejects.length === 0) return;
    const lines = rejects.map(
      ({ line, reason, row }) => `${JSON.stringify({ line, reason, row: shown(row) }, withBigints)}\n`,
    );
    const bytes = Buffer.from(lines.join(''));
    try {
      this.#file ??= await open(this.path, 'w');
      await this.#file.appendFile(bytes);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #failure(cause: unknown): CellportError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new CellportError(
      'UNAVAILABLE',
      `cannot write the rejects file ${this.path}: ${reason}`,
      { file: this.path },
      { cause },
    );
  }
}
