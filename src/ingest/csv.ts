import { parse } from 'csv-parse/sync';
import { badInput } from '../errors.js';
import { NOT_UTF8, decodeUtf8 } from './bytes.js';
import { readLines, type Line } from './lines.js';
import {
  FIELD_NAMES,
  contentOf,
  mapFields,
  markerOfFields,
  type FieldMap,
  type Fields,
  type ReadOptions,
  type Row,
} from './row.js';

const QUOTE = 0x22;
const DELIMITERS = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof DELIMITERS)[number];

/** A record may go on over lines inside quotes, up to this many bytes; what goes on longer lacks a closing quote. */
const LONGEST_RECORD = 1024 * 1024;
/** How many records are parsed in one call, and how many bytes of them at most. */
const BATCH = 500;
const BATCH_BYTES = 1024 * 1024;

/** Lines that belong together by their quotes. */
interface CsvRecord {
  readonly lines: readonly Line[];
  readonly text: string | undefined;
}

function quotesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) count += 1;
  return count;
}

const NEWLINE = Buffer.from('\n');

/** The lines as one text, without the carriage return of the last line's end. */
function recordText(lines: readonly Line[]): string | undefined {
  const bytes = Buffer.concat(lines.flatMap(({ bytes: part }, at) => (at === 0 ? [part] : [NEWLINE, part])));
  return decodeUtf8(bytes)?.replace(/\r$/, '');
}

/**
 * Joins lines into records: one ends where its quotes are even. A record whose quotes turn out to be wrong gives back its
 * lines but the first, so that a stray quote costs the line it stands on and not those after it.
 */
class Records {
  readonly #source: AsyncGenerator<Line>;
  #returned: Line[] = [];

  constructor(source: AsyncGenerator<Line>) {
    this.#source = source;
  }

  async #line(): Promise<Line | undefined> {
    const returned = this.#returned.shift();
    if (returned !== undefined) return returned;
    const next = await this.#source.next();
    return next.done === true ? undefined : next.value;
  }

  /** The next record, undefined at the end of the file. */
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
    const text = recordText(lines);
    if (lines.length === 1 || (text !== undefined && quotes % 2 === 0 && wellFormed(text))) return { lines, text };
    this.#returned = [...lines.slice(1), ...this.#returned];
    return { lines: [first], text: recordText([first]) };
  }
}

/** The fields of each record of a text, as csv-parse reads them; undefined where a quote stands where none may. */
function parseRecords(text: string, delimiter: Delimiter): string[][] | undefined {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: LONGEST_RECORD,
    });
  } catch {
    return undefined;
  }
}

/** The delimiter of a header: whichever stands there most often outside quotes. */
function delimiterOf(header: string): Delimiter {
  const bare = header.replace(/"[^"]*"/g, '');
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: bare.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

/** Says which columns hold which part of a marker. Throws BAD_USER_INPUT where one is missing or named twice. */
function mapColumns(path: string, names: readonly string[], options: ReadOptions): FieldMap {
  const doubled = names.find((name, at) => names.indexOf(name) !== at);
  if (doubled !== undefined)
    throw badInput('file', path, `CSV whose columns have different names; ${doubled} stands there twice`);
  const map = mapFields(names, options);
  for (const part of ['key', 'lng', 'lat'] as const) {
    if (map[part] !== undefined) continue;
    const wanted = part === 'key' && options.keyField !== undefined ? [options.keyField] : FIELD_NAMES[part];
    throw badInput('file', path, `CSV with a column named ${wanted.join(' or ')}; its columns are ${names.join(', ')}`);
  }
  return map;
}

/** Degrees as a table may spell them; in a table without commas as delimiters, 52,4 is 52.4. What is no number stays text. */
function degrees(text: string, delimiter: Delimiter): unknown {
  const plain = delimiter === ',' ? text.trim() : text.trim().replace(',', '.');
  const value = Number(plain);
  return plain === '' || Number.isNaN(value) ? text : value;
}

/** A property's value: a number where the text is exactly how that number is written, so that `007` and long ids stay text. */
function propertyValue(text: string): string | number {
  const value = Number(text);
  return String(value) === text && Number.isFinite(value) ? value : text;
}

/** The cells of a record by their column's name, read as what they are; empty cells are left out. */
function fieldsOf(cells: readonly string[], names: readonly string[], map: FieldMap, delimiter: Delimiter): Fields {
  const fields: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? '';
    if (cell === '') continue;
    if (name === map.lng || name === map.lat) fields[name] = degrees(cell, delimiter);
    else fields[name] = name === map.key || name === map.name || name === map.category ? cell : propertyValue(cell);
  }
  return fields;
}

/** What the rejects file shows of a record. */
function sourceOf({ lines, text }: CsvRecord): string {
  return (text ?? Buffer.concat(lines.map(({ bytes }) => bytes)).toString('latin1')).trimEnd();
}

/**
 * The rows of a CSV file with a header, whose columns are matched by name. Delimiter comma, semicolon, tab or bar, as the
 * header has it; quotes as in RFC 4180. Throws BAD_USER_INPUT where the header lacks a column.
 */
export async function* readCsv(path: string, options: ReadOptions): AsyncGenerator<Row> {
  const records = new Records(readLines(path));
  let header: CsvRecord | undefined;
  do header = await records.next(() => true);
  while (header !== undefined && header.text?.trim() === '');
  if (header === undefined) throw badInput('file', path, 'CSV with a header; it is empty');
  if (header.text === undefined) throw badInput('file', path, `CSV in UTF-8: ${NOT_UTF8}`);
  const delimiter = delimiterOf(header.text);
  const names = parseRecords(header.text, delimiter)?.[0]?.map((name) => name.trim());
  if (names === undefined) throw badInput('file', path, 'CSV with a header; a quote in it is wrong');
  const map = mapColumns(path, names, options);
  const wellFormed = (text: string): boolean => parseRecords(text, delimiter)?.length === 1;

  const rowOf = (record: CsvRecord, cells: readonly string[] | undefined): Row => {
    const [first] = record.lines;
    const last = record.lines.at(-1);
    if (first === undefined || last === undefined) throw new Error('a record has at least one line');
    const bytes = record.lines.reduce((sum, { length }) => sum + length, 0);
    const row = { line: first.number, end: last.end, bytes, source: sourceOf(record) };
    if (bytes > LONGEST_RECORD) return { ...row, content: { reason: `it is longer than ${LONGEST_RECORD} bytes` } };
    if (record.text === undefined) return { ...row, content: { reason: NOT_UTF8 } };
    if (cells === undefined)
      return { ...row, content: { reason: 'a quote is missing, or stands inside a field without quotes' } };
    if (cells.length !== names.length) {
      return { ...row, content: { reason: `it has ${cells.length} fields, the header has ${names.length}` } };
    }
    const content = contentOf(() => markerOfFields(fieldsOf(cells, names, map, delimiter), map, options));
    return { ...row, content };
  };

  let batch: CsvRecord[] = [];
  let held = 0;
  const rows = function* (): Generator<Row> {
    const parsed = parseRecords(batch.map(({ text }) => text ?? '?').join('\n'), delimiter);
    // One record that is wrong spoils the call for all: then each is parsed alone.
    const together = parsed?.length === batch.length ? parsed : undefined;
    for (const [at, record] of batch.entries()) {
      const alone = record.text === undefined ? undefined : parseRecords(record.text, delimiter);
      yield rowOf(record, together?.[at] ?? (alone?.length === 1 ? alone[0] : undefined));
    }
    batch = [];
    held = 0;
  };
  for (let record = await records.next(wellFormed); record !== undefined; record = await records.next(wellFormed)) {
    if (record.text?.trim() === '') continue;
    batch.push(record);
    held += record.text?.length ?? 0;
    if (batch.length >= BATCH || held >= BATCH_BYTES) yield* rows();
  }
  yield* rows();
}
