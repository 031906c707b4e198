import { lstat, open, rm, type FileHandle } from 'node:fs/promises';

import { CellportError } from '../../errors.js';
import type { RowText } from './row.js';

/** A row that was not imported. */
export interface Reject extends RowText {
  readonly reason: string;
}

const LONGEST_ROW_SHOWN = 20_000;

const cutOff = (text: string) => (text.length > LONGEST_ROW_SHOWN ? `${text.slice(0, LONGEST_ROW_SHOWN)}…` : text);

/**
 * Formats a reject as a line of the file. JSON rows are copied, because parsing could change their numbers or fail;
 * others become a string. Long rows are truncated: rejected rows of megabytes must not fill the disk.
 */
function lineOf({ line, reason, text, isJson }: Reject): string {
  const cut = cutOff(text);
  // In JSON, line feeds occur only between values.
  const row = isJson && cut === text ? text.replace(/[\r\n]+/g, ' ') : JSON.stringify(cut);
  return `{"line":${line},"reason":${JSON.stringify(cutOff(reason))},"row":${row}}\n`;
}

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
      // Removes only regular files: the path may be a device or a link.
      const existing = await lstat(this.path).catch(() => undefined);
      if (existing?.isFile() === true) await rm(this.path, { force: true });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Appends rejects. Throws UNAVAILABLE if the file cannot be written, for example on a full disk. */
  async write(rejects: readonly Reject[]): Promise<void> {
    if (rejects.length === 0) return;
    const bytes = Buffer.from(rejects.map(lineOf).join(''));
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
