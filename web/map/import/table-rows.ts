import { parse } from 'csv-parse/browser/esm/sync';

import { InvalidRow, type ReadOptions } from '../../../src/ingest/rows/fields.js';
import type { MarkerRow } from '../../../src/ingest/rows/marker-row.js';
import {
  columnNames,
  delimiterOf,
  markerTable,
  type Delimiter,
  type Table,
  type TableRows,
} from '../../../src/ingest/rows/marker-table.js';
import { withPrimes } from '../../../src/ingest/rows/position.js';
import type { Lines } from './lines.js';
import { rowOf, type ImportRow } from './row.js';

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
function parseRecords(text: string, delimiter: Delimiter, isExact = false): string[][] | undefined {
  try {
    return parse(text, { delimiter, trim: !isExact, record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch {
    return undefined;
  }
}

function cellsOf(
  records: readonly Lines[],
  delimiter: Delimiter,
  isExact?: boolean,
): (readonly string[] | undefined)[] {
  const together = parseRecords(records.map(({ text }) => text).join('\n'), delimiter, isExact);
  if (together?.length === records.length) return together;
  // One malformed record fails the whole call, so each is parsed alone.
  return records.map(
    ({ text }) => (parseRecords(text, delimiter, isExact) ?? parseRecords(withPrimes(text), delimiter, isExact))?.[0],
  );
}

interface Header {
  readonly columns: readonly string[];
  readonly delimiter: Delimiter;
}

/** Reads the first record of a table. */
export function readHeader(record: Lines | undefined): Header {
  const delimiter = delimiterOf(record?.text ?? '');
  const columns = columnNames(parseRecords(record?.text ?? '', delimiter)?.[0] ?? []);
  return { columns, delimiter };
}

interface Opened extends Header {
  readonly table: Table<MarkerRow>;
}

/** The cells below a table's header, in batches. */
async function* batchesOf(name: string, records: AsyncIterable<readonly Lines[]>, options: ReadOptions) {
  let opened: Opened | undefined;
  for await (const some of records) {
    let lines = some;
    if (opened === undefined) {
      const [first, ...rest] = some;
      const header = readHeader(first);
      opened = { ...header, table: markerTable(name, options)(header.columns, header.delimiter) };
      lines = rest;
    }
    yield { ...opened, lines, cells: cellsOf(lines, opened.delimiter, opened.table.isExact) };
  }
}

/**
 * Yields the rows of a table's records, which are read twice: what a cell means depends on its column. Throws
 * BAD_USER_INPUT if a required column is missing.
 */
export async function* tableRows(
  name: string,
  ahead: AsyncIterable<readonly Lines[]>,
  again: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
  onNote: (note: string) => void,
): AsyncGenerator<readonly ImportRow[]> {
  let table: TableRows<MarkerRow> | undefined;
  let surveyed: Table<MarkerRow> | undefined;
  for await (const { table: one, columns, cells } of batchesOf(name, ahead, options)) {
    surveyed ??= one;
    for (const own of cells) if (own?.length === columns.length) surveyed.survey?.(own);
    // Lets the caller stop.
    yield [];
  }
  for await (const { columns, lines: records, cells } of batchesOf(name, again, options)) {
    if (table === undefined) {
      table = surveyed?.open();
      table?.notes?.forEach(onNote);
    }
    yield records.map((lines, at) =>
      rowOf(lines, options, () => {
        const own = cells[at];
        if (own === undefined || table === undefined) throw new InvalidRow('a quote is missing or misplaced');
        if (own.length !== columns.length)
          throw new InvalidRow(`${own.length} fields, but the header has ${columns.length}`);
        return table.read(own);
      }),
    );
  }
}
