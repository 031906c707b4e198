import { InvalidRow, type ReadOptions } from '../../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../../src/ingest/rows/marker-row.js';
import type { Lines } from './lines.js';

/** A row of a file: its marker, or the reason for its rejection. */
export type ImportRow = Lines &
  (
    | { readonly marker: MarkerRow; readonly texts: number }
    | { readonly reason: string; readonly skipped?: InvalidRow['skipped'] }
  );

/** A reason without command-line options, which do not apply on the page. */
export const forPage = (reason: string) =>
  reason.replace(/[;:.?]? *(if they have other names, )?(pass|choose with) --.*$/i, '');

/** Names the column that the user has chosen. */
export const inColumn = (column: string | undefined) => (column === undefined ? '' : ` in column ${column}`);

function check(part: string, value: unknown, most: number, column: string | undefined): void {
  if (typeof value === 'number' && Math.abs(value) <= most) return;
  throw new InvalidRow(`${part} ${String(value)}${inColumn(column)} is not a number from -${most} to ${most}`);
}

/** The row with the marker that a function makes, or with the reason for which it throws. */
export function rowOf(
  lines: Lines,
  { latColumn, lngColumn }: ReadOptions,
  make: (onText: () => void) => MarkerRow,
): ImportRow {
  try {
    let texts = 0;
    const marker = make(() => (texts += 1));
    check('longitude', marker.position.lng, 180, lngColumn);
    check('latitude', marker.position.lat, 90, latColumn);
    return { ...lines, marker, texts };
  } catch (error) {
    if (error instanceof InvalidRow) return { ...lines, reason: forPage(error.message), skipped: error.skipped };
    if (error instanceof SyntaxError) return { ...lines, reason: `not JSON: ${error.message}` };
    throw error;
  }
}
