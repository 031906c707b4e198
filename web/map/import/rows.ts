import { CellportError } from '../../../src/errors.js';
import { parseExactly } from '../../../src/ingest/rows/exact-json.js';
import { InvalidRow, type ReadOptions, isFields } from '../../../src/ingest/rows/fields.js';
import { markerOfValue } from '../../../src/ingest/rows/marker-row.js';
import { featuresOf } from './features.js';
import { type Lines, linesOf, readText, tableEncoding } from './lines.js';
import { type ImportRow, forPage, rowOf } from './row.js';
import { recordsOf, tableRows } from './table-rows.js';

/** The file as a whole cannot be imported. */
export class WrongFile extends Error {}

async function* valueRows(
  values: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
): AsyncGenerator<readonly ImportRow[]> {
  for await (const some of values) {
    const filled = some.filter(({ text }) => text.trim() !== '');
    yield filled.map((lines) => rowOf(lines, options, () => markerOfValue(parseExactly(lines.text), options)));
  }
}

/** A GeoJSON file with a single element must be a Feature. */
async function* featureRows(
  features: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
): AsyncGenerator<readonly ImportRow[]> {
  for await (const some of features) {
    yield some.map((lines) =>
      rowOf(lines, options, () => {
        const value = parseExactly(lines.text);
        if (!isFields(value) || value['type'] !== 'Feature') throw new InvalidRow('not a GeoJSON Feature');
        return markerOfValue(value, options);
      }),
    );
  }
}

/** File extensions that the page reads. */
export const ACCEPTED = ['.geojson', '.json', '.csv', '.tsv', '.ndjson', '.jsonl', '.geojsonl'] as const;

/** A file as records: table records, features, or lines with one JSON value each. */
export interface Records {
  readonly kind: 'table' | 'features' | 'values';
  readonly lines: AsyncIterable<readonly Lines[]>;
}

/**
 * Opens a file. `onRead` receives the number of bytes read so far. Throws WrongFile if the page cannot read such files.
 */
export async function openRecords(file: File, onRead?: (bytes: number) => void): Promise<Records> {
  const name = file.name.toLowerCase();
  const ending = ACCEPTED.find((each) => name.endsWith(each));
  if (ending === undefined) throw new WrongFile(`This page reads only ${ACCEPTED.join(', ')} files.`);
  if (ending === '.csv' || ending === '.tsv')
    return { kind: 'table', lines: recordsOf(linesOf(readText(file, onRead, await tableEncoding(file)))) };
  const text = readText(file, onRead);
  if (ending === '.geojson' || ending === '.json') return { kind: 'features', lines: featuresOf(text) };
  return { kind: 'values', lines: linesOf(text) };
}

/**
 * Yields the rows of a file in batches; memory does not grow with the file. Throws WrongFile if the file as a whole
 * cannot be read. `onRead` receives the number of bytes read so far.
 */
export async function* readRows(
  file: File,
  options: ReadOptions,
  onRead?: (bytes: number) => void,
): AsyncGenerator<readonly ImportRow[]> {
  const { kind, lines } = await openRecords(file, onRead);
  try {
    if (kind === 'table') yield* tableRows(file.name, lines, options);
    else yield* (kind === 'features' ? featureRows : valueRows)(lines, options);
  } catch (error) {
    throw error instanceof CellportError ? new WrongFile(forPage(error.message)) : error;
  }
}
