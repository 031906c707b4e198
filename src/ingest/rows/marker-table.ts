import { CellportError } from '../../errors.js';
import { isExportedTable, markerOfCells } from './exported-csv.js';
import { type RowFields, InvalidRow, type ReadOptions } from './fields.js';
import { CHOSEN_PARTS, type FieldMap, type MarkerRow, mapFields, markerOfFields } from './marker-row.js';
import { NO_POSITION, degrees } from './position.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The delimiter that occurs most often outside quotes in a header. */
export function delimiterOf(header: string): Delimiter {
  const bare = header.replace(/"[^"]*"/g, '');
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: bare.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

/**
 * Returns a function that reads the cells of a record, one per column. Throws BAD_USER_INPUT if a column is missing; the
 * function throws InvalidRow.
 */
export type TableKind<C> = (columns: readonly string[], delimiter: Delimiter) => (cells: readonly string[]) => C;

/** BAD_USER_INPUT for a table with missing or invalid columns. */
export function wrongColumns(path: string, fault: string, columns: readonly string[]): CellportError {
  return new CellportError('BAD_USER_INPUT', `${path}: ${fault}. Its columns are ${columns.join(', ')}`, {
    field: 'file',
    value: path,
  });
}

/** Maps the parts of a marker to columns. Throws BAD_USER_INPUT if the position or the chosen key is missing. */
function mapColumns(path: string, columns: readonly string[], options: ReadOptions): FieldMap {
  try {
    const map = mapFields(columns, options);
    for (const part of CHOSEN_PARTS) {
      const column = options[`${part}Column`];
      if (typeof column === 'string' && map[part] === undefined)
        throw new InvalidRow(`no column ${column}, given by --${part}-column`);
    }
    if (map.position === undefined) throw new InvalidRow(NO_POSITION);
    return map;
  } catch (error) {
    throw error instanceof InvalidRow ? wrongColumns(path, error.message, columns) : error;
  }
}

/** A number if the text is its canonical notation, so that `007` and long IDs stay text. */
function propertyValue(text: string, decimalComma: boolean): string | number {
  // In such tables, 1.234 may mean 1,234.
  if (decimalComma && text.includes('.')) return text;
  const written = decimalComma ? text.replace(',', '.') : text;
  const value = Number(written);
  return String(value) === written && Number.isFinite(value) ? value : text;
}

/** A place if the cell is a JSON list, such as `["Berlin", "D", "4"]`. */
function placeValue(text: string): unknown {
  if (!text.startsWith('[')) return propertyValue(text, false);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The values of a record by column; empty cells are omitted. */
function fieldsOf(
  cells: readonly string[],
  columns: readonly string[],
  map: FieldMap,
  delimiter: Delimiter,
): RowFields {
  const filled = columns.map((name, at) => [name, cells[at] ?? ''] as const).filter(([, cell]) => cell !== '');
  const { position } = map;
  const coordinates = position === undefined || 'point' in position ? [] : [position.lat, position.lng];
  // If coordinates have decimal commas, so do other numbers. Otherwise 12,13 may be a list.
  const comma = delimiter === ';' && filled.some(([name, cell]) => coordinates.includes(name) && cell.includes(','));
  const texts = [
    map.key,
    map.name,
    map.category,
    ...(position !== undefined && 'point' in position ? [position.point] : []),
  ];
  const valueOf = (name: string, cell: string): unknown => {
    if (coordinates.includes(name)) return degrees(cell, delimiter !== ',');
    if (name === map.place) return placeValue(cell);
    return texts.includes(name) ? cell : propertyValue(cell, comma);
  };
  return Object.fromEntries(filled.map(([name, cell]) => [name, valueOf(name, cell)]));
}

/** Returns the kind of table that has markers; `path` names it in messages. */
export function markerTable(path: string, options: ReadOptions): TableKind<MarkerRow> {
  return (columns, delimiter) => {
    const isChosen = Object.values(options).some((column) => column !== undefined);
    if (isExportedTable(columns) && !isChosen) {
      return (cells) => markerOfCells(cells, (cell) => degrees(cell, delimiter !== ','));
    }
    const map = mapColumns(path, columns, options);
    return (cells) => markerOfFields(fieldsOf(cells, columns, map, delimiter), map, options);
  };
}
