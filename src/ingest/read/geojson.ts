import { badInput } from '../../errors.js';
import { LONGEST_ROW } from './bytes.js';
import { readElements } from './feature-splitter.js';
import { parseExactly } from '../rows/exact-json.js';
import { readJsonRow } from './json-row.js';
import { rowOffsetOf } from './row-offset.js';
import type { ReadValue, Row, RowReader } from './row.js';
import { type RowFields, isFields } from '../rows/fields.js';

const WGS84 = /CRS:?:?84|EPSG:(?:[\d.]*:)?4326|WGS ?84/i;

/** Parses the file without its features. Throws BAD_USER_INPUT if it is not JSON, or not in degrees. */
function readFrame(path: string, frame: string): RowFields {
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
 * Creates a reader for a GeoJSON FeatureCollection or a single Feature, with features of at most `longest` bytes.
 * Reading throws BAD_USER_INPUT if the file as a whole is not GeoJSON; an invalid feature is an invalid row.
 */
export function featureReader<C>(path: string, read: ReadValue<C>, longest = LONGEST_ROW): RowReader<C> {
  return {
    rows: () => readRows(path, read, longest),
    contents: (rows) => rows.map((bytes) => readJsonRow(bytes, read).content),
  };
}
