import { parse } from 'csv-parse/sync';

import { badInput } from '../../errors.js';
import { chunks } from '../../store/request/pacing.js';
import {
  columnNames,
  delimiterOf,
  type Delimiter,
  type Table,
  type TableKind,
  type TableRows,
} from '../rows/marker-table.js';
import { withPrimes } from '../rows/position.js';
import { decodeUtf8, NOT_UTF8 } from './bytes.js';
import { readLines, type Line } from './lines.js';
import { contentOf, rowOffsetOf, type Invalid, type Row, type RowReader } from './row.js';
import { formOf, readText } from './text.js';

const QUOTE = 0x22;

/** Maximum size of a quoted field that spans lines; a longer record lacks a closing quote. */
const LONGEST_RECORD = 4 * 1024 * 1024;
/** Maximum numbers of records and bytes parsed in one call. */
const BATCH = 500;
const BATCH_BYTES = 1024 * 1024;

/** One line, or several that a quoted field spans. */
interface CsvRecord {
  readonly lines: readonly Line[];
  /** Without the last line feed. */
  readonly bytes: Buffer;
  readonly text: string | undefined;
}

function quotesIn(bytes: Buffer): number {
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

function recordOf(lines: readonly Line[]): CsvRecord {
  const [first, ...more] = lines.map(({ bytes }) => bytes);
  if (first === undefined) throw new Error('a record has no line');
  const bytes = more.length === 0 ? first : Buffer.concat([first, ...more.flatMap((part) => [NEWLINE, part])]);
  return { lines, bytes, text: lineText(bytes) };
}

/**
 * Joins lines into records: a record ends where its quotes are balanced. If a record turns out to be malformed, all its
 * lines but the first are read again as records, so that a stray quote invalidates only its own line.
 */
class Records {
  readonly #source: AsyncGenerator<readonly Line[]>;
  /** Lines read ahead, and the index of the next one. */
  #lines: readonly Line[] = [];
  #next = 0;

  constructor(source: AsyncGenerator<readonly Line[]>) {
    this.#source = source;
  }

  async #line(): Promise<Line | undefined> {
    while (this.#next >= this.#lines.length) {
      const more = await this.#source.next();
      if (more.done === true) return undefined;
      this.#lines = more.value;
      this.#next = 0;
    }
    this.#next += 1;
    return this.#lines[this.#next - 1];
  }

  /** The next record; undefined at the end of the file. */
  async next(wellFormed: (text: string) => boolean): Promise<CsvRecord | undefined> {
    const first = await this.#line();
    if (first === undefined) return undefined;
    const lines = [first];
    let quotes = quotesIn(first.bytes);
    let bytes = first.length;
    while (quotes % 2 === 1 && bytes <= LONGEST_RECORD) {
      const line = await this.#line();
      if (line === undefined) break;
      lines.push(line);
      quotes += quotesIn(line.bytes);
      bytes += line.length;
    }
    const record = recordOf(lines);
    const { text } = record;
    if (lines.length === 1 || (text !== undefined && quotes % 2 === 0 && wellFormed(text))) return record;
    this.#lines = [...lines.slice(1), ...this.#lines.slice(this.#next)];
    this.#next = 0;
    return recordOf([first]);
  }
}

interface Format {
  readonly delimiter: Delimiter;
  /** Whether blanks around fields count, also outside quotes. */
  readonly isExact?: boolean | undefined;
}

/** The fields of each record; undefined if a quote is misplaced. */
function parseRecords(text: string, { delimiter, isExact = false }: Format): string[][] | undefined {
  try {
    return parse(text, {
      delimiter,
      trim: !isExact,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: LONGEST_RECORD,
    });
  } catch {
    return undefined;
  }
}

interface Header<C> extends Format {
  readonly columns: number;
  readonly table: Table<C>;
}

/** Reads the header. Throws BAD_USER_INPUT if it is missing, or a column is missing. */
function readHeader<C>(
  path: string,
  header: CsvRecord | undefined,
  kind: TableKind<C>,
  delimiter = delimiterOf(header?.text ?? ''),
): Header<C> {
  if (header === undefined) throw badInput('file', path, 'CSV with a header; it is empty');
  if (header.text === undefined) throw badInput('file', path, `CSV in UTF-8: ${NOT_UTF8}`);
  const given = parseRecords(header.text, { delimiter })?.[0];
  if (given === undefined) throw badInput('file', path, 'CSV with a header; its quotes are malformed');
  const names = columnNames(given);
  const table = kind(names, delimiter);
  return { delimiter, isExact: table.isExact, columns: names.length, table };
}

/** The cells of each record; undefined for a malformed one. */
function cellsOf(texts: readonly string[], format: Format): (readonly string[] | undefined)[] {
  const together = parseRecords(texts.join('\n'), format);
  if (together?.length === texts.length) return together;
  // One malformed record fails the whole call, so each is parsed alone.
  return texts.map((text) => {
    const alone = parseRecords(text, format) ?? parseRecords(withPrimes(text), format);
    return alone?.length === 1 ? alone[0] : undefined;
  });
}

function contentsOf<C>(texts: readonly string[], header: Header<unknown>, { read }: TableRows<C>): (C | Invalid)[] {
  return cellsOf(texts, header).map((cells) => {
    if (cells === undefined) return { reason: 'missing quote, or a quote inside an unquoted field' };
    if (cells.length !== header.columns) {
      return { reason: `${cells.length} fields, but the header has ${header.columns}` };
    }
    return contentOf(() => read(cells));
  });
}

/** The reason why a record cannot be parsed; undefined if it can. */
function faultOf({ lines, text }: CsvRecord): string | undefined {
  const bytes = lines.reduce((sum, { length }) => sum + length, 0);
  if (bytes > LONGEST_RECORD) return `longer than ${LONGEST_RECORD} bytes`;
  return text === undefined ? NOT_UTF8 : undefined;
}

/** The texts of the records that can be parsed. */
const textsOf = (records: readonly CsvRecord[]) =>
  records.flatMap((record) => (record.text === undefined || faultOf(record) !== undefined ? [] : [record.text]));

function rowsOf<C>(records: readonly CsvRecord[], header: Header<unknown>, table: TableRows<C>): Row<C>[] {
  const contents = contentsOf(textsOf(records), header, table).values();
  return records.map((record) => {
    const { lines, bytes, text } = record;
    const reason = faultOf(record);
    const content = reason === undefined ? contents.next().value : { reason };
    if (content === undefined) throw new Error('a record without a fault has its content');
    const shown = (text ?? bytes.toString('latin1')).trimEnd();
    const offset = rowOffsetOf(lines[0]?.start ?? 0, bytes);
    return { line: lines[0]?.number ?? 0, ...offset, text: shown, isJson: false, content };
  });
}

/** The records below a header, in batches. */
async function* batchesOf(records: Records, format: Format): AsyncGenerator<readonly CsvRecord[]> {
  const wellFormed = (text: string): boolean => parseRecords(text, format)?.length === 1;
  let batch: CsvRecord[] = [];
  let held = 0;
  for (let record = await records.next(wellFormed); record !== undefined; record = await records.next(wellFormed)) {
    // Excel exports empty rows below a table.
    if (record.text?.replaceAll(format.delimiter, '').trim() === '') continue;
    batch.push(record);
    held += record.bytes.length;
    if (batch.length >= BATCH || held >= BATCH_BYTES) {
      yield batch;
      batch = [];
      held = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** A line before the header that tells Excel the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])$/i;

/**
 * Creates a reader for CSV files whose columns are matched by header names. The delimiter (comma, semicolon, tab or
 * bar) is detected from the header, the encoding, unless it is given, from the first megabyte; quotes follow RFC 4180.
 * Reading throws BAD_USER_INPUT if a column is missing.
 */
export function tableReader<C>(path: string, kind: TableKind<C>, encoding?: string): RowReader<C> {
  let found: ReturnType<typeof formOf> | undefined;
  const form = () => (found ??= formOf(path, true, encoding));
  let opened: { readonly header: Header<C>; readonly table: TableRows<C> } | undefined;

  async function open(): Promise<{ readonly records: Records; readonly header: Header<C> }> {
    const records = new Records(readLines(readText(path, await form())));
    const next = async () => {
      let record: CsvRecord | undefined;
      do record = await records.next(() => true);
      while (record !== undefined && record.text?.trim() === '');
      return record;
    };
    const first = await next();
    const [, delimiter] = SEPARATOR_LINE.exec(first?.text ?? '') ?? [];
    const record = delimiter === undefined ? first : await next();
    return { records, header: readHeader(path, record, kind, delimiter as Delimiter | undefined) };
  }

  return {
    form,
    notes: async () => [...(await form()).notes, ...(opened?.table.notes ?? [])],
    async *rows() {
      const first = await open();
      const { header } = first;
      let { records } = first;
      const { survey } = header.table;
      if (survey !== undefined) {
        for await (const batch of batchesOf(records, header)) {
          contentsOf(textsOf(batch), header, { read: survey });
          // Lets the caller stop.
          yield [];
        }
        ({ records } = await open());
      }
      const table = header.table.open();
      opened = { header, table };
      for await (const batch of batchesOf(records, header)) yield rowsOf(batch, header, table);
    },
    contents(rows) {
      if (opened === undefined) throw new Error('rows() must run first: it reads the header');
      const { header, table } = opened;
      const texts = rows.map((bytes) => lineText(bytes) ?? '');
      return chunks(texts, BATCH).flatMap((batch) => contentsOf(batch, header, table));
    },
  };
}
