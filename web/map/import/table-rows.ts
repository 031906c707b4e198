import { parse } from 'csv-parse/browser/esm/sync';

import { csvParser, CsvRecords } from '../../../src/ingest/rows/csv-records.js';
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
import type { Lines } from './lines.js';
import { rowOf, type ImportRow } from './row.js';

const { fieldsOf, cellsOf } = csvParser(parse);

const JOINING = {
  quotesIn: ({ text }: Lines) => text.split('"').length - 1,
  sizeOf: ({ text }: Lines) => text.length,
  join: (lines: readonly Lines[]) => ({ line: lines[0]?.line ?? 0, text: lines.map(({ text }) => text).join('\n') }),
};

/** The records of a table, in batches, of which the first has its header alone. */
export async function* recordsOf(lines: AsyncGenerator<readonly Lines[]>): AsyncGenerator<readonly Lines[]> {
  const records = new CsvRecords(lines, JOINING);
  try {
    const { record, delimiter } = await records.header();
    if (record === undefined) return;
    yield [record];
    yield* records.below(delimiter, (text) => fieldsOf(text, { delimiter })?.length === 1);
  } finally {
    // Closes the file if its rows are not read to the end.
    await lines.return(undefined);
  }
}

interface Header {
  readonly columns: readonly string[];
  readonly delimiter: Delimiter;
}

/** Reads the first record of a table. */
export function readHeader(record: Lines | undefined): Header {
  const delimiter = delimiterOf(record?.text ?? '');
  const columns = columnNames(fieldsOf(record?.text ?? '', { delimiter })?.[0] ?? []);
  return { columns, delimiter };
}

interface Opened extends Header {
  readonly table: Table<MarkerRow>;
}

/** The records below a table's header with their cells, or why they have none, in batches. */
async function* batchesOf(name: string, batches: AsyncIterable<readonly Lines[]>, options: ReadOptions) {
  let opened: Opened | undefined;
  for await (const lines of batches) {
    if (opened !== undefined) {
      const { columns, delimiter, table } = opened;
      const format = { delimiter, isExact: table.isExact };
      yield { table, records: cellsOf(lines, ({ text }) => text, format, columns.length) };
    } else {
      const header = readHeader(lines[0]);
      opened = { ...header, table: markerTable(name, options)(header.columns, header.delimiter) };
    }
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
  for await (const { table: one, records } of batchesOf(name, ahead, options)) {
    surveyed ??= one;
    for (const [, cells] of records) if (typeof cells !== 'string') surveyed.survey?.(cells);
    // Lets the caller stop.
    yield [];
  }
  for await (const { table: one, records } of batchesOf(name, again, options)) {
    if (table === undefined) {
      table = (surveyed ?? one).open();
      table.notes?.forEach(onNote);
    }
    const { read } = table;
    yield records.map(([lines, cells]) =>
      rowOf(lines, options, () => {
        if (typeof cells === 'string') throw new InvalidRow(cells);
        return read(cells);
      }),
    );
  }
}
