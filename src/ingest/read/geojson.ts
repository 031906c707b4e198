import { badInput } from '../../errors.js';
import { LONGEST_ROW, readBytes } from './bytes.js';
import { parseExactly } from '../rows/exact-json.js';
import { readJsonRow } from './json-row.js';
import { rowOffsetOf } from './row-offset.js';
import type { ReadValue, Row, RowReader } from './row.js';
import { type Fields, isFields } from '../rows/fields.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Longest text around the features; a file with more is not a FeatureCollection. */
const LONGEST_FRAME = 1024 * 1024;
const FEATURES_KEY = /"features"\s*:\s*$/;
const WGS84 = /CRS:?:?84|EPSG:(?:[\d.]*:)?4326|WGS ?84/i;

interface Element {
  readonly line: number;
  /** Its offset in the file, including blanks before it. */
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Splits the file at the commas of its `features` array, by counting brackets outside strings; JSON.parse then reads one
 * element at a time. A streaming tokenizer would not know the line of a feature, and would stop at the first error. The
 * text around the features (the frame) is passed to `onFrame` twice, with its offset: when the features begin, completed
 * to valid JSON, and in full at the end.
 */
async function* readElements(
  path: string,
  longest: number,
  onFrame: (frame: string, start: number) => void,
): AsyncGenerator<readonly Element[]> {
  let frame = '';
  let frameStart: number | undefined;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let line = 1;
  /** Bracket depth directly inside the features array; 0 outside of it. */
  let inside = 0;
  let done = false;
  let pieces: Buffer[] = [];
  let held = 0;
  let begun = 0;
  let start = 0;

  for await (const { start: chunkStart, bytes: chunk } of readBytes(path)) {
    frameStart ??= chunkStart;
    const elements: Element[] = [];
    // Where the current element, or the frame, begins in this chunk.
    let from = 0;
    const cut = (to: number): void => {
      const rest = chunk.subarray(from, to);
      elements.push({ line: begun, start, bytes: pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]) });
      pieces = [];
      held = 0;
      begun = 0;
      from = to + 1;
      start = chunkStart + from;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte <= SPACE) {
        if (byte === NEWLINE) line += 1;
        continue;
      }
      if (inside > 0 && begun === 0 && byte !== COMMA && byte !== CLOSE_ARRAY) begun = line;
      switch (byte) {
        case QUOTE:
          inString = true;
          break;
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          depth += 1;
          if (byte === OPEN_ARRAY && depth === 2 && !done) {
            const before = frame + chunk.toString('latin1', from, at);
            if (FEATURES_KEY.test(before)) {
              frame = `${before}[`;
              onFrame(`${frame}]}`, frameStart);
              inside = depth;
              from = at + 1;
              start = chunkStart + from;
            }
          }
          break;
        case COMMA:
          if (depth === inside) {
            if (begun === 0) begun = line;
            cut(at);
          }
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          if (depth === inside && byte === CLOSE_ARRAY) {
            // Nothing follows the last comma, or the array is empty.
            if (begun > 0) cut(at);
            pieces = [];
            held = 0;
            from = at;
            inside = 0;
            done = true;
          }
          depth -= 1;
          break;
        default:
      }
    }
    yield elements;
    const rest = chunk.subarray(from);
    if (inside === 0) {
      frame += rest.toString('latin1');
      // The file may be a single feature.
      if (frame.length > Math.max(longest, LONGEST_FRAME)) {
        throw badInput('file', path, `GeoJSON with a features array: none begins in its first ${frame.length} bytes`);
      }
      continue;
    }
    pieces.push(rest);
    held += rest.length;
    if (held > longest) {
      throw badInput('file', path, `GeoJSON: the feature on line ${begun} does not end within ${longest} bytes`);
    }
  }
  if (inside > 0) {
    const where =
      begun > 0 ? `in the feature that begins on line ${begun}` : `after line ${line}, between two features`;
    throw badInput('file', path, `complete GeoJSON: it ends ${where}`);
  }
  onFrame(frame, frameStart ?? 0);
}

/** Parses the file without its features. Throws BAD_USER_INPUT if it is not JSON, or not in degrees. */
function readFrame(path: string, frame: string): Fields {
  let value: unknown;
  try {
    value = parseExactly(Buffer.from(frame, 'latin1').toString());
  } catch (error) {
    throw badInput('file', path, `GeoJSON: ${(error as SyntaxError).message}`);
  }
  if (!isFields(value))
    throw badInput('file', path, 'a GeoJSON FeatureCollection; pass --format ndjson for one JSON value per line');
  const { crs } = value;
  if (isFields(crs) && isFields(crs['properties'])) {
    const { name } = crs['properties'];
    if (typeof name !== 'string' || !WGS84.test(name))
      throw badInput('file', path, `GeoJSON in WGS 84 degrees; its crs is ${JSON.stringify(name)}`);
  }
  return value;
}

async function* readRows<C>(path: string, read: ReadValue<C>, longest: number): AsyncGenerator<readonly Row<C>[]> {
  let frame = '';
  let frameStart = 0;
  const onFrame = (text: string, from: number): void => {
    frame = text;
    frameStart = from;
    readFrame(path, text);
  };
  for await (const elements of readElements(path, longest, onFrame)) {
    yield elements.map(({ line, start, bytes }) => ({
      line,
      ...rowOffsetOf(start, bytes),
      ...readJsonRow(bytes, read),
    }));
  }
  const whole = readFrame(path, frame);
  if (whole['type'] === 'Feature') {
    const bytes = Buffer.from(frame, 'latin1');
    yield [{ line: 1, ...rowOffsetOf(frameStart, bytes), ...readJsonRow(bytes, read) }];
  } else if (whole['type'] !== 'FeatureCollection' || !Array.isArray(whole['features'])) {
    throw badInput('file', path, 'a GeoJSON FeatureCollection with an array of features');
  }
}

/**
 * Reads a GeoJSON FeatureCollection, or a single Feature, with features of at most `longest` bytes. Reading throws
 * BAD_USER_INPUT if the file as a whole is not GeoJSON; an invalid feature is an invalid row.
 */
export function featureReader<C>(path: string, read: ReadValue<C>, longest = LONGEST_ROW): RowReader<C> {
  return {
    rows: () => readRows(path, read, longest),
    contents: (rows) => rows.map((bytes) => readJsonRow(bytes, read).content),
  };
}
