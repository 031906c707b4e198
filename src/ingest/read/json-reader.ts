import { badInput } from '../../errors.js';
import { parseExactly } from '../../model/exact-json.js';
import { otherCrs } from '../rows/crs.js';
import { isFields, type ReadOptions, type RowFields } from '../rows/fields.js';
import { isOneLine, jsonShape, RECORD_SEPARATOR } from '../rows/json-shape.js';
import { decodeUtf8, LONGEST_ROW, NOT_UTF8, type Chunk } from './bytes.js';
import { readElements, type Element } from './element-splitter.js';
import type { FileFormat } from './file-format.js';
import { readLines, type Line } from './lines.js';
import { contentOf, rowOffsetOf, type ReadValue, type Row, type RowReader } from './row.js';
import { formOf, readText } from './text.js';

const SHOWN_OF_LONG_LINE = 200;
const NEWLINE = 0x0a;

/** Reads a row from the bytes of a JSON value. */
function readJson<C>(bytes: Buffer, read: ReadValue<C>) {
  const text = decodeUtf8(bytes)?.trim();
  if (text === undefined) return { text: bytes.toString('latin1'), isJson: false, content: { reason: NOT_UTF8 } };
  let value: unknown;
  let texts = 0;
  try {
    value = parseExactly(text, () => (texts += 1));
  } catch (error) {
    return { text, isJson: false, content: { reason: `invalid JSON: ${(error as SyntaxError).message}` } };
  }
  return { text, isJson: true, content: contentOf(() => read(value)), ...(texts > 0 && { texts }) };
}

const rowOf = <C>({ line, start, bytes }: Element, read: ReadValue<C>): Row<C> => ({
  line,
  ...rowOffsetOf(start, bytes),
  ...readJson(bytes, read),
});

/** The row of a line; nothing for a blank line. */
function rowsOfLine<C>({ number: line, start, length, bytes }: Line, read: ReadValue<C>, longest: number): Row<C>[] {
  if (length > longest) {
    const text = bytes.subarray(0, SHOWN_OF_LONG_LINE).toString();
    const content = { reason: `longer than ${longest} bytes` };
    return [{ line, start, length, checksum: 0, text, isJson: false, content }];
  }
  return bytes.toString().trim() === '' ? [] : [rowOf({ line, start, bytes }, read)];
}

/** The texts of a sequence, each with the line on which it begins. */
async function* readSequence(lines: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
  let number = 1;
  for await (const some of lines) {
    yield some.map((line) => {
      const begins = number;
      for (let at = line.bytes.indexOf(NEWLINE); at >= 0; at = line.bytes.indexOf(NEWLINE, at + 1)) number += 1;
      return { ...line, number: begins };
    });
  }
}

/** Parses the file without its values. Throws BAD_USER_INPUT if it is not JSON, or not in degrees. */
function readFrame(path: string, frame: string): RowFields | readonly unknown[] {
  let value: unknown;
  try {
    value = parseExactly(Buffer.from(frame, 'latin1').toString());
  } catch (error) {
    throw badInput('file', path, `GeoJSON: ${(error as SyntaxError).message}`);
  }
  if (Array.isArray(value)) return value as readonly unknown[];
  if (!isFields(value)) throw badInput('file', path, 'a GeoJSON FeatureCollection, or an array or lines of objects');
  const crs = otherCrs(value);
  if (crs !== undefined) throw badInput('file', path, `GeoJSON in WGS 84 degrees; its crs is ${crs}`);
  return value;
}

/** Yields the values of the file's list, or the file itself if it is one value. */
async function* readWhole(
  path: string,
  text: AsyncIterable<Chunk>,
  longest: number,
  concatenated: boolean,
): AsyncGenerator<readonly Element[]> {
  let frame = '';
  let start = 0;
  const onFrame = (around: string, from: number) => {
    frame = around;
    start = from;
    readFrame(path, around);
  };
  yield* readElements(path, text, longest, onFrame, concatenated);
  if (concatenated) return;
  const whole = readFrame(path, frame);
  if (Array.isArray(whole)) return;
  const { type, features, Items: items } = whole as RowFields;
  if (type === 'FeatureCollection' ? Array.isArray(features) : Array.isArray(items)) return;
  if (type !== 'Feature' && (type !== undefined || features !== undefined)) {
    throw badInput('file', path, 'a GeoJSON FeatureCollection with an array of features');
  }
  yield [{ line: 1, start, bytes: Buffer.from(frame, 'latin1') }];
}

/**
 * Creates a reader for JSON: a GeoJSON FeatureCollection, a Feature, an array, the answer of a DynamoDB Scan, values on
 * lines or one after another, or a sequence with record separators; each value has at most `longest` bytes. Blank lines
 * are skipped. Reading throws BAD_USER_INPUT if the file as a whole is none of these; an invalid value is an invalid row.
 */
export function jsonReader<C>(
  path: string,
  format: FileFormat,
  read: ReadValue<C>,
  { encoding }: ReadOptions = {},
  longest = LONGEST_ROW,
): RowReader<C> {
  let found: ReturnType<typeof formOf> | undefined;
  const form = () => (found ??= formOf(path, false, encoding));
  return {
    form,
    notes: async () => (await form()).notes,
    async *rows() {
      const { beginning } = await form();
      const text = readText(path, await form());
      const layout = jsonShape(beginning, format === 'ndjson');
      if (layout === 'whole' || layout === 'concatenated') {
        const hasRows = isOneLine(beginning);
        let row = 0;
        for await (const elements of readWhole(path, text, longest, layout === 'concatenated')) {
          yield elements.map((element) => rowOf(hasRows ? { ...element, line: (row += 1) } : element, read));
        }
        return;
      }
      const lines =
        layout === 'lines'
          ? readLines(text, longest)
          : readSequence(readLines(text, longest, RECORD_SEPARATOR.charCodeAt(0)));
      for await (const some of lines) yield some.flatMap((line) => rowsOfLine(line, read, longest));
    },
    contents: (rows) => rows.map((bytes) => readJson(bytes, read).content),
  };
}
