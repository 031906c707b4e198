import { parse } from 'csv-parse/browser/esm/sync';

import { InvalidRow, type ReadOptions } from '../../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../../src/ingest/rows/marker-row.js';
import { type Delimiter, delimiterOf, markerTable } from '../../../src/ingest/rows/marker-table.js';
import type { Lines } from './lines.js';
import { type ImportRow, rowOf } from './row.js';

/** Number of table rows parsed in one call. */
const BATCH = 500;
const LONGEST_RECORD = 1024 * 1024;

const quotesIn = (text: string) => text.split('"').length - 1;

/** Joins lines into records, because a quoted field may span several. */
export async function* recordsOf(lines: AsyncIterable<readonly Lines[]>): AsyncGenerator<readonly Lines[]> {
  let open: Lines | undefined;
  let quotes = 0;
  for await (const some of lines) {
    const records: Lines[] = [];
    for (const each of some) {
      open = open ? { line: open.line, text: `${open.text}\n${each.text}` } : each;
      quotes += quotesIn(each.text);
      if (quotes % 2 === 1 && open.text.length < LONGEST_RECORD) continue;
      if (open.text.trim() !== '') records.push(open);
      open = undefined;
      quotes = 0;
    }
    for (let at = 0; at < records.length; at += BATCH) yield records.slice(at, at + BATCH);
  }
  if (open) yield [open];
}

/** The cells of each record; undefined if a quote is misplaced. */
function parseRecords(text: string, delimiter: Delimiter): string[][] | undefined {
  try {
    return parse(text, { delimiter, record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch {
    return undefined;
  }
}

function cellsOf(records: readonly Lines[], delimiter: Delimiter): (readonly string[] | undefined)[] {
  const together = parseRecords(records.map(({ text }) => text).join('\n'), delimiter);
  if (together?.length === records.length) return together;
  // One malformed record fails the whole call, so each is parsed alone.
  return records.map(({ text }) => parseRecords(text, delimiter)?.[0]);
}

interface Header {
  readonly columns: readonly string[];
  readonly delimiter: Delimiter;
}

/** Reads the first record of a table. */
export function readHeader(record: Lines | undefined): Header {
  const delimiter = delimiterOf(record?.text ?? '');
  const columns = parseRecords(record?.text ?? '', delimiter)?.[0]?.map((each) => each.trim()) ?? [];
  return { columns, delimiter };
}

/** Yields the rows of a table's records. Throws BAD_USER_INPUT if a required column is missing. */
export async function* tableRows(
  name: string,
  batches: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
): AsyncGenerator<readonly ImportRow[]> {
  let table: (Header & { readonly read: (cells: readonly string[]) => MarkerRow }) | undefined;
  for await (const records of batches) {
    let rows = records;
    if (table === undefined) {
      const [first, ...rest] = records;
      const header = readHeader(first);
      table = { ...header, read: markerTable(name, options)(header.columns, header.delimiter) };
      rows = rest;
    }
    const { columns, delimiter, read } = table;
    const cells = cellsOf(rows, delimiter);
    yield rows.map((lines, at) =>
      rowOf(lines, options, () => {
        const own = cells[at];
        if (own === undefined) throw new InvalidRow('a quote is missing or misplaced');
        if (own.length !== columns.length)
          throw new InvalidRow(`${own.length} fields, but the header has ${columns.length}`);
        return read(own);
      }),
    );
  }
}
