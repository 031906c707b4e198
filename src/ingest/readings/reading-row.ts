import { readInstant } from '../../model/instant.js';
import type { Reading } from '../../model/reading.js';
import { readValues } from '../../store/reading/reading-item.js';
import { tableReader } from '../read/csv.js';
import type { FileFormat } from '../read/file-format.js';
import { jsonReader } from '../read/json-reader.js';
import type { ReadValue, RowReader } from '../read/row.js';
import { ColumnTypes } from '../rows/column-types.js';
import {
  findFields,
  InvalidRow,
  isFields,
  keyText,
  without,
  type ReadOptions,
  type RowFields,
} from '../rows/fields.js';
import { checkChosen, forTable, type TableKind } from '../rows/marker-table.js';

/** A reading parsed from a row; valid, except that its marker may not exist. */
export interface ReadingRow extends Reading {
  /** Key of the marker. */
  readonly key: string;
}

/** Field names for the parts of a reading; the first that exists is used. */
const FIELD_NAMES = { key: ['marker', 'key'], at: ['at', 'time', 'timestamp'] } as const;
type FieldMap = Readonly<Record<keyof typeof FIELD_NAMES, string>>;

function mapFields(names: readonly string[], { keyColumn }: ReadOptions): Partial<FieldMap> {
  const { key, at } = findFields(names, FIELD_NAMES);
  const named = keyColumn === undefined ? key : names.find((name) => name === keyColumn);
  return { ...(named === undefined ? {} : { key: named }), ...(at === undefined ? {} : { at }) };
}

/** A reading from its parts; null values are omitted. Throws InvalidRow or CellportError. */
function readingOf(key: unknown, at: unknown, fields: RowFields): ReadingRow {
  if (at === undefined || at === null || at === '') throw new InvalidRow('no time of measurement in field `at`');
  const values = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  if (Object.keys(values).length === 0) throw new InvalidRow('no values');
  return {
    key: keyText('marker', key),
    at: readInstant('at', at),
    values: readValues('values', values),
  };
}

const readingTable =
  (path: string, options: ReadOptions): TableKind<ReadingRow> =>
  (columns, delimiter) =>
    forTable(path, columns, () => {
      const { key, at } = mapFields(columns, options);
      const wanted = options.keyColumn === undefined ? FIELD_NAMES.key : [options.keyColumn];
      if (key === undefined) throw new InvalidRow(`no column ${wanted.join(' or ')} with the marker's key`);
      if (at === undefined) throw new InvalidRow(`no column ${FIELD_NAMES.at.join(' or ')} with the time`);
      checkChosen(columns, options);
      const types = new ColumnTypes(columns, [], delimiter, options);
      const read = (cells: readonly string[]) => {
        const texts = columns.map((_, index) => (cells[index] ?? '').trim());
        const measured = columns.flatMap((name, index) => {
          const text = texts[index] ?? '';
          const value = types.valueOf(index, text);
          // No reading is true or false.
          return text === '' || [key, at].includes(name) ? [] : [[name, typeof value === 'boolean' ? text : value]];
        });
        return readingOf(texts[columns.indexOf(key)], texts[columns.indexOf(at)], Object.fromEntries(measured));
      };
      return { survey: (cells) => types.add(cells), open: () => ({ read, notes: types.notes([key, at]) }) };
    });

/**
 * Parses a reading from a JSON value: values are in an object `values`, or next to `marker` and `at`. Throws InvalidRow or
 * CellportError.
 */
const readingValue =
  (options: ReadOptions): ReadValue<ReadingRow> =>
  (line) => {
    if (!isFields(line)) throw new InvalidRow('not a JSON object');
    const { key, at } = mapFields(Object.keys(line), options);
    const { values, ...flat } = without(line, [key, at]);
    const named = isFields(values) ? values : {};
    if (values !== undefined && !isFields(values)) throw new InvalidRow('values is not an object');
    const twice = Object.keys(flat).find((name) => Object.hasOwn(named, name));
    if (twice !== undefined) throw new InvalidRow(`duplicate field ${twice}, also in values`);
    return readingOf(key && line[key], at && line[at], { ...flat, ...named });
  };

/** Creates a reader for the readings of a file. */
export function readingReader(path: string, format: FileFormat, options: ReadOptions): RowReader<ReadingRow> {
  if (format === 'csv') return tableReader(path, readingTable(path, options), options.encoding);
  return jsonReader(path, format, readingValue(options), options);
}
