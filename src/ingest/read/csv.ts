import { parse } from 'csv-parse/sync';

import { badInput } from '../../errors.js';
import { chunks } from '../../store/request/pacing.js';
import { BATCH, csvParser, CsvRecords, LONGEST_RECORD, type CsvFormat } from '../rows/csv-records.js';
import { columnNames, type Delimiter, type Table, type TableKind, type TableRows } from '../rows/marker-table.js';
import { decodeUtf8, NOT_UTF8 } from './bytes.js';
import { readLines, type Line } from './lines.js';
import { contentOf, rowOffsetOf, type Invalid, type Row, type RowReader } from './row.js';
import { formOf, readText } from './text.js';

const QUOTE = 0x22;

const { fieldsOf, cellsOf } = csvParser(parse);

interface CsvRecord {
  /** Its first line. */
  readonly number: number;
  readonly start: number;
  /** Also of bytes that were left out of a line that is too long. */
  readonly length: number;
  /** Without the last line feed. */
  readonly bytes: Buffer;
  readonly text: string | undefined;
}

function quotesIn({ bytes }: Line): number {
  let count = 0;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) count += 1;
  return count;
}

const NEWLINE = Buffer.from('\n');

/** The text of a record without its line ending; undefined if it is not UTF-8. */
function lineText(bytes: Buffer): string | undefined {
  const text = decodeUtf8(bytes);
  return text?.endsWith('\r') === true ? text.slice(0, -1) : text;
}

function join(lines: readonly Line[]): CsvRecord {
  const [first, ...more] = lines;
  if (first === undefined) throw new Error('a record has no line');
  const { number, start } = first;
  const bytes =
    more.length === 0 ? first.bytes : Buffer.concat([first.bytes, ...more.flatMap((line) => [NEWLINE, line.bytes])]);
  const length = lines.reduce((sum, line) => sum + line.length, 0);
  return { number, start, length, bytes, text: lineText(bytes) };
}

const JOINING = { quotesIn, sizeOf: ({ length }: Line | CsvRecord) => length, join };

interface Header<C> extends CsvFormat {
  readonly columns: number;
  readonly table: Table<C>;
}

/** Reads the header. Throws BAD_USER_INPUT if it is missing, or a column is missing. */
function readHeader<C>(
  path: string,
  header: CsvRecord | undefined,
  kind: TableKind<C>,
  delimiter: Delimiter,
): Header<C> {
  if (header === undefined) throw badInput('file', path, 'CSV with a header; it is empty');
  if (header.text === undefined) throw badInput('file', path, `CSV in UTF-8: ${NOT_UTF8}`);
  const given = fieldsOf(header.text, { delimiter })?.[0];
  if (given === undefined) throw badInput('file', path, 'CSV with a header; its quotes are malformed');
  const names = columnNames(given);
  const table = kind(names, delimiter);
  return { delimiter, isExact: table.isExact, columns: names.length, table };
}

/** The content of a row with some cells, or why it has none. */
const contentIn = <C>(cells: readonly string[] | string, { read }: TableRows<C>): C | Invalid =>
  typeof cells === 'string' ? { reason: cells } : contentOf(() => read(cells));

/** The reason why a record cannot be parsed; undefined if it can. */
function faultOf({ length, text }: CsvRecord): string | undefined {
  if (length > LONGEST_RECORD) return `longer than ${LONGEST_RECORD} bytes`;
  return text === undefined ? NOT_UTF8 : undefined;
}

/** Records with their cells, or why they have none. */
const cellsIn = (records: readonly CsvRecord[], header: Header<unknown>) =>
  cellsOf(records, (record) => (faultOf(record) === undefined ? (record.text ?? '') : ''), header, header.columns);

function rowsOf<C>(records: readonly CsvRecord[], header: Header<unknown>, table: TableRows<C>): Row<C>[] {
  return cellsIn(records, header).map(([record, cells]) => {
    const { number: line, start, bytes, text } = record;
    const content = contentIn(faultOf(record) ?? cells, table);
    const shown = (text ?? bytes.toString('latin1')).trimEnd();
    return { line, ...rowOffsetOf(start, bytes), text: shown, isJson: false, content };
  });
}

/**
 * Creates a reader for CSV files whose columns are matched by header names. The delimiter (comma, semicolon, tab or
 * bar) is detected from the header, the encoding, unless it is given, from the first megabyte; quotes follow RFC 4180.
 * Reading throws BAD_USER_INPUT if a column is missing.
 */
export function tableReader<C>(path: string, kind: TableKind<C>, encoding?: string): RowReader<C> {
  let found: ReturnType<typeof formOf> | undefined;
  const form = () => (found ??= formOf(path, true, encoding));
  let opened: { readonly header: Header<C>; readonly table: TableRows<C> } | undefined;

  async function open() {
    const records = new CsvRecords(readLines(readText(path, await form())), JOINING);
    const { record, delimiter } = await records.header();
    const header = readHeader(path, record, kind, delimiter);
    const below = records.below(delimiter, (text) => fieldsOf(text, header)?.length === 1);
    return { header, below };
  }

  return {
    form,
    notes: async () => [...(await form()).notes, ...(opened?.table.notes ?? [])],
    async *rows() {
      let { header, below } = await open();
      const { survey } = header.table;
      if (survey !== undefined) {
        for await (const batch of below) {
          for (const [, cells] of cellsIn(batch, header)) contentIn(cells, { read: survey });
          // Lets the caller stop.
          yield [];
        }
        ({ below } = await open());
      }
      const table = header.table.open();
      opened = { header, table };
      for await (const batch of below) yield rowsOf(batch, header, table);
    },
    contents(rows) {
      if (opened === undefined) throw new Error('rows() must run first: it reads the header');
      const { header, table } = opened;
      const textOf = (bytes: Buffer) => lineText(bytes) ?? '';
      const cells = chunks(rows, BATCH).flatMap((batch) => cellsOf(batch, textOf, header, header.columns));
      return cells.map(([, own]) => contentIn(own, table));
    },
  };
}
