import { parse } from 'csv-parse/browser/esm/sync';

import { CellportError } from '../../../src/errors.js';
import { parseExactly } from '../../../src/ingest/rows/exact-json.js';
import { InvalidRow, type ReadOptions, isFields } from '../../../src/ingest/rows/fields.js';
import { type MarkerRow, markerOfValue } from '../../../src/ingest/rows/marker-row.js';
import { type Delimiter, delimiterOf, markerTable } from '../../../src/ingest/rows/marker-table.js';
import { featuresOf } from './features.js';
import { type Lines, linesOf, readText, tableEncoding } from './lines.js';

/** A row of a file: its marker, or why it has none. */
export type ImportRow = Lines & ({ readonly marker: MarkerRow } | { readonly reason: string });

/** Rows of a table that are parsed in one call. */
const BATCH = 500;
const LONGEST_RECORD = 1024 * 1024;

/** A file that cannot be imported as a whole. */
export class WrongFile extends Error {}

/** Messages name options of the command line, which the page does not have. */
const forPage = (reason: string) =>
  reason.replace(/[;.?]? *(if they have other names, )?(pass|choose with) --.*$/i, '');

function rowOf(lines: Lines, marker: () => MarkerRow): ImportRow {
  try {
    const made = marker();
    const { lng, lat } = made.position;
    if (typeof lng !== 'number' || !(Math.abs(lng) <= 180)) throw new InvalidRow(`longitude ${String(lng)} is not a number from -180 to 180`); // prettier-ignore
    if (typeof lat !== 'number' || !(Math.abs(lat) <= 90)) throw new InvalidRow(`latitude ${String(lat)} is not a number from -90 to 90`); // prettier-ignore
    return { ...lines, marker: made };
  } catch (error) {
    if (error instanceof InvalidRow) return { ...lines, reason: forPage(error.message) };
    if (error instanceof SyntaxError) return { ...lines, reason: `not JSON: ${error.message}` };
    throw error;
  }
}

const quotesIn = (text: string) => text.split('"').length - 1;

/** Joins lines into records: a quoted field may span several. */
async function* recordsOf(lines: AsyncIterable<readonly Lines[]>): AsyncGenerator<readonly Lines[]> {
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

async function* tableRows(
  name: string,
  lines: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
): AsyncGenerator<readonly ImportRow[]> {
  let table: { columns: readonly string[]; delimiter: Delimiter; read: (cells: readonly string[]) => MarkerRow } | undefined; // prettier-ignore
  for await (const records of recordsOf(lines)) {
    let rows = records;
    if (table === undefined) {
      const [header, ...rest] = records;
      const delimiter = delimiterOf(header?.text ?? '');
      const columns = parseRecords(header?.text ?? '', delimiter)?.[0]?.map((each) => each.trim()) ?? [];
      table = { columns, delimiter, read: markerTable(name, options)(columns, delimiter) };
      rows = rest;
    }
    const { columns, delimiter, read } = table;
    const cells = cellsOf(rows, delimiter);
    yield rows.map((lines, at) =>
      rowOf(lines, () => {
        const own = cells[at];
        if (own === undefined) throw new InvalidRow('a quote is missing, or inside an unquoted field');
        if (own.length !== columns.length)
          throw new InvalidRow(`${own.length} fields, but the header has ${columns.length}`);
        return read(own);
      }),
    );
  }
}

async function* valueRows(values: AsyncIterable<readonly Lines[]>): AsyncGenerator<readonly ImportRow[]> {
  for await (const some of values) {
    const filled = some.filter(({ text }) => text.trim() !== '');
    yield filled.map((lines) => rowOf(lines, () => markerOfValue(parseExactly(lines.text), {})));
  }
}

/** A GeoJSON file of one element is a Feature, or none at all. */
async function* featureRows(features: AsyncIterable<readonly Lines[]>): AsyncGenerator<readonly ImportRow[]> {
  for await (const some of features) {
    yield some.map((lines) =>
      rowOf(lines, () => {
        const value = parseExactly(lines.text);
        if (!isFields(value) || value['type'] !== 'Feature') throw new InvalidRow('not a GeoJSON Feature');
        return markerOfValue(value, {});
      }),
    );
  }
}

/** Files that the page reads, by the end of their names. */
export const ACCEPTED = ['.geojson', '.json', '.csv', '.tsv', '.ndjson', '.jsonl', '.geojsonl'] as const;

/**
 * The rows of a file in batches; memory does not grow with the file. Throws WrongFile if it cannot be read as a whole.
 * `onRead` is told how many bytes have been read.
 */
export async function* readRows(
  file: File,
  options: ReadOptions,
  onRead?: (bytes: number) => void,
): AsyncGenerator<readonly ImportRow[]> {
  const name = file.name.toLowerCase();
  const ending = ACCEPTED.find((each) => name.endsWith(each));
  if (ending === undefined) throw new WrongFile(`The page reads ${ACCEPTED.join(', ')} files.`);
  const isTable = ending === '.csv' || ending === '.tsv';
  const text = readText(file, onRead, isTable ? await tableEncoding(file) : 'utf-8');
  try {
    if (isTable) yield* tableRows(file.name, linesOf(text), options);
    else if (ending === '.geojson' || ending === '.json') yield* featureRows(featuresOf(text));
    else yield* valueRows(linesOf(text));
  } catch (error) {
    throw error instanceof CellportError ? new WrongFile(forPage(error.message)) : error;
  }
}
