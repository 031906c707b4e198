import { CellportError } from '../../../src/errors.js';
import type { ReadOptions } from '../../../src/ingest/rows/fields.js';
import { isOneLine, jsonShape, RECORD_SEPARATOR } from '../../../src/ingest/rows/json-shape.js';
import { markerOfValue } from '../../../src/ingest/rows/marker-row.js';
import { parseExactly } from '../../../src/model/exact-json.js';
import { featuresOf } from './features.js';
import { linesOf, readText, textForm, type Lines } from './lines.js';
import { forPage, rowOf, type ImportRow } from './row.js';
import { recordsOf, tableRows } from './table-rows.js';

/** The file as a whole cannot be imported. */
export class WrongFile extends Error {}

async function* valueRows(
  values: AsyncIterable<readonly Lines[]>,
  options: ReadOptions,
): AsyncGenerator<readonly ImportRow[]> {
  for await (const some of values) {
    const filled = some.filter(({ text }) => text.trim() !== '');
    yield filled.map((lines) =>
      rowOf(lines, options, (onText) => markerOfValue(parseExactly(lines.text, onText), options)),
    );
  }
}

/** The elements of a file of one line, with their numbers in place of the line. */
async function* numbered(elements: AsyncIterable<readonly Lines[]>): AsyncGenerator<readonly Lines[]> {
  let row = 0;
  for await (const some of elements) yield some.map((each) => ({ ...each, line: (row += 1) }));
}

/** File extensions that the page reads. */
export const ACCEPTED = ['.geojson', '.json', '.csv', '.tsv', '.ndjson', '.jsonl', '.geojsonl', '.geojsons'] as const;

/** A file as records: table records, features, or lines with one JSON value each. */
export interface Records {
  readonly kind: 'table' | 'values';
  readonly lines: AsyncIterable<readonly Lines[]>;
  /** Its encoding. */
  readonly encoding: string;
}

/**
 * Opens a file. `onRead` receives the number of bytes read so far. Throws WrongFile if the page cannot read such files.
 */
export async function openRecords(file: File, onRead?: (bytes: number) => void): Promise<Records> {
  const name = file.name.toLowerCase();
  const ending = ACCEPTED.find((each) => name.endsWith(each));
  if (ending === undefined) throw new WrongFile(`This page reads only ${ACCEPTED.join(', ')} files.`);
  const kind = ending === '.csv' || ending === '.tsv' ? 'table' : 'values';
  const form = await textForm(file, kind === 'table');
  const { encoding } = form;
  const text = readText(file, form, onRead);
  if (kind === 'table') return { kind, lines: recordsOf(linesOf(text)), encoding };
  const layout = jsonShape(form.beginning, ending !== '.geojson' && ending !== '.json');
  if (layout === 'whole' || layout === 'concatenated') {
    const elements = featuresOf(text, layout === 'concatenated');
    return { kind, lines: isOneLine(form.beginning) ? numbered(elements) : elements, encoding };
  }
  return { kind, lines: linesOf(text, layout === 'lines' ? '\n' : RECORD_SEPARATOR), encoding };
}

interface ReadProgress {
  /** Receives the number of bytes read so far. */
  readonly onRead?: (bytes: number) => void;
  /** Receives what was guessed about the whole file. */
  readonly onNote?: (note: string) => void;
}

/**
 * Yields the rows of a file in batches; memory does not grow with the file. Throws WrongFile if the file as a whole
 * cannot be read.
 */
export async function* readRows(
  file: File,
  options: ReadOptions,
  { onRead, onNote = () => undefined }: ReadProgress = {},
): AsyncGenerator<readonly ImportRow[]> {
  const { kind, lines, encoding } = await openRecords(file, onRead);
  if (encoding !== 'utf-8') onNote(`read as ${encoding}`);
  try {
    if (kind === 'table') yield* tableRows(file.name, (await openRecords(file)).lines, lines, options, onNote);
    else yield* valueRows(lines, options);
  } catch (error) {
    throw error instanceof CellportError ? new WrongFile(forPage(error.message)) : error;
  }
}
