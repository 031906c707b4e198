import { LONGEST_ROW, NOT_UTF8, decodeUtf8 } from './bytes.js';
import { parseExactly } from './exact-json.js';
import { readLines } from './lines.js';
import {
  RowFault,
  contentOf,
  isFields,
  mapFields,
  markerOfFeature,
  markerOfFields,
  type Fields,
  type MarkerRow,
  type ReadOptions,
  type Row,
} from './row.js';

const SHOWN_OF_LONG_LINE = 200;

/** Fields of a marker as the API takes them: `position` and `properties` may be objects of their own, or flat. */
function flatten(fields: Fields): Fields {
  const { position, properties, ...rest } = fields;
  const flat: Record<string, unknown> = rest;
  const parts = [
    ['position', position],
    ['properties', properties],
  ] as const;
  for (const [name, part] of parts) {
    if (part === undefined || part === null) continue;
    if (!isFields(part)) throw new RowFault(`its ${name} is no object`);
    for (const [field, value] of Object.entries(part)) {
      if (Object.hasOwn(flat, field)) throw new RowFault(`it has ${field} twice, once in its ${name}`);
      flat[field] = value;
    }
  }
  return flat;
}

/** A marker from one parsed line: a GeoJSON Feature, or an object with key, lng, lat, name, category and other fields. Throws RowFault. */
function markerOfValue(value: unknown, options: ReadOptions): MarkerRow {
  if (!isFields(value)) throw new RowFault('it is no JSON object');
  if (value['type'] === 'Feature') return markerOfFeature(value, options);
  const fields = flatten(value);
  return markerOfFields(fields, mapFields(Object.keys(fields), options), options);
}

/** The rows of a file with one JSON value a line; empty lines are none. */
export async function* readNdjson(path: string, options: ReadOptions): AsyncGenerator<Row> {
  for await (const { number, end, length, bytes } of readLines(path)) {
    const row = { line: number, end, bytes: length };
    if (length > LONGEST_ROW) {
      const source = bytes.subarray(0, SHOWN_OF_LONG_LINE).toString();
      yield { ...row, source, content: { reason: `it is longer than ${LONGEST_ROW} bytes` } };
      continue;
    }
    const text = decodeUtf8(bytes)?.trim();
    if (text === undefined) {
      yield { ...row, source: bytes.toString('latin1'), content: { reason: NOT_UTF8 } };
      continue;
    }
    if (text === '') continue;
    let value: unknown;
    try {
      value = parseExactly(text);
    } catch (error) {
      yield { ...row, source: text, content: { reason: `it is no JSON: ${(error as SyntaxError).message}` } };
      continue;
    }
    yield { ...row, source: value, content: contentOf(() => markerOfValue(value, options)) };
  }
}
