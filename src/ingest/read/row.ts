import { InvalidRow } from '../rows/fields.js';
import type { RowOffset } from './row-offset.js';
import type { TextForm } from './text.js';

/** An invalid row. */
export interface Invalid {
  readonly reason: string;
  /** What it is instead, if another import takes it. */
  readonly skipped?: InvalidRow['skipped'];
}

export function isInvalid<C extends object>(content: C | Invalid): content is Invalid {
  return 'reason' in content;
}

/** The text of a row, for the rejects file. */
export interface RowText {
  /** The line of the file on which it begins, starting from 1; the number of the row if the file is one line. */
  readonly line: number;
  /** The row as in the file. */
  readonly text: string;
  /** Whether the text is JSON. */
  readonly isJson: boolean;
}

/** One row of a file. */
export interface Row<C> extends RowOffset, RowText {
  readonly content: C | Invalid;
  /** Numbers that became text, so that they are not changed. */
  readonly texts?: number;
}

/** Reads the rows of a file in one format. */
export interface RowReader<C> {
  /** All rows in order, in batches. Throws BAD_USER_INPUT if the file as a whole is not of the format. */
  rows(): AsyncGenerator<readonly Row<C>[]>;
  /** How the file is written; rows have the bytes and offsets of its text in UTF-8 with line feeds. */
  form(): Promise<TextForm>;
  /** What was guessed about the whole file, for people; call after `rows` is complete. */
  notes(): Promise<readonly string[]>;
  /** The contents of valid rows from their bytes; call after `rows` is complete. */
  contents(rows: readonly Buffer[]): readonly (C | Invalid)[];
}

/** Creates the content of a row from a JSON value. Throws InvalidRow. */
export type ReadValue<C> = (value: unknown) => C;

/** The result of `make`, or the reason if it throws InvalidRow. */
export function contentOf<C>(make: () => C): C | Invalid {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidRow) return { reason: error.message, skipped: error.skipped };
    throw error;
  }
}
