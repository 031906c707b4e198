import { CellportError } from '../../errors.js';
import { jsonIn } from '../../model/exact-json.js';
import { ColumnTypes } from './column-types.js';
import { isExportedTable, markerOfCells } from './exported-csv.js';
import { InvalidRow, isFields, type ReadOptions, type RowFields } from './fields.js';
import { CHOSEN_PARTS, flatten, mapFields, markerOfFields, type MarkerRow } from './marker-row.js';
import { findPosition, isPoint, NO_POSITION, pointAmong, positionIn } from './position.js';

const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** The delimiter that occurs most often outside quotes in a header. */
export function delimiterOf(header: string): Delimiter {
  const bare = header.replace(/"[^"]*"/g, '');
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: bare.split(delimiter).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).delimiter;
}

/** How the cells of a record, one per column, are read. */
export interface TableRows<C> {
  /** Throws InvalidRow. */
  readonly read: (cells: readonly string[]) => C;
  /** What was guessed, for people. */
  readonly notes?: readonly string[];
}

/** How a table with some columns is read. */
export interface Table<C> {
  /** Called with all records before the first is read, if what one cell means depends on others. */
  readonly survey?: (cells: readonly string[]) => void;
  /** Throws BAD_USER_INPUT if a column is missing. */
  readonly open: () => TableRows<C>;
  /** Whether blanks around cells count. */
  readonly isExact?: boolean;
}

/** Makes a table from its header. Throws BAD_USER_INPUT if a column is missing. */
export type TableKind<C> = (columns: readonly string[], delimiter: Delimiter) => Table<C>;

/** Column names as they are used: trimmed, and a repeated one numbered, as in `note`, `note_2`. */
export function columnNames(header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  const taken = new Set(names);
  const last = new Map<string, number>();
  return names.map((name) => {
    let number = (last.get(name) ?? 0) + 1;
    while (number > 1 && taken.has(`${name}_${number}`)) number += 1;
    last.set(name, number);
    return number === 1 ? name : `${name}_${number}`;
  });
}

/** What `make` returns; InvalidRow that it throws becomes BAD_USER_INPUT about a table with these columns. */
export function forTable<T>(path: string, columns: readonly string[], make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidRow)) throw error;
    const message = `${path}: ${error.message}. Its columns are ${columns.join(', ')}`;
    throw new CellportError('BAD_USER_INPUT', message, { field: 'file', value: path });
  }
}

/** Checks the columns that options name. Throws InvalidRow if one is missing. */
export function checkChosen(columns: readonly string[], options: ReadOptions): void {
  for (const part of [...CHOSEN_PARTS, 'text', 'number'] as const) {
    const missing = [options[`${part}Column`] ?? []].flat().find((column) => !columns.includes(column));
    if (missing !== undefined) throw new InvalidRow(`no column ${missing}, given by --${part}-column`);
  }
}

/** The table of markers with some columns. Throws InvalidRow, also later, if one is missing. */
function surveyed(columns: readonly string[], delimiter: Delimiter, options: ReadOptions): Table<MarkerRow> {
  checkChosen(columns, options);
  const map = mapFields(columns, options);
  const named = findPosition(columns, options);
  const coordinates = named === undefined || 'point' in named ? [] : [named.lat, named.lng];
  const types = new ColumnTypes(columns, coordinates, delimiter, options);
  /** How many cells of each column are a position. */
  const points = new Map<string, number>();
  return {
    survey(cells) {
      types.add(cells);
      if (named !== undefined) return;
      for (const [at, name] of columns.entries())
        if (isPoint(name, cells[at])) points.set(name, (points.get(name) ?? 0) + 1);
    },
    open() {
      const most = [...points.values()].reduce((greatest, count) => Math.max(greatest, count), 0);
      const position = named ?? pointAmong(columns, (name) => points.get(name) === most);
      if (position === undefined) throw new InvalidRow(NO_POSITION);
      const texts = [...Object.values(position), map.key, map.name, map.category];
      return {
        read(cells) {
          const filled = columns.flatMap((name, at) => {
            const cell = (cells[at] ?? '').trim();
            // JSON, as exports have it.
            const isJson = cell.startsWith(name === map.place ? '[' : '{') && [map.place, 'properties'].includes(name);
            const value = texts.includes(name) ? cell : (isJson && jsonIn(cell)) || types.valueOf(at, cell);
            return cell === '' ? [] : [[name, value] as const];
          });
          const cellsByName: RowFields = Object.fromEntries(filled);
          const fields = isFields(cellsByName['properties']) ? flatten(cellsByName) : cellsByName;
          return markerOfFields(fields, map, positionIn(fields, position), options);
        },
        notes: types.notes(texts),
      };
    },
  };
}

/** Returns the kind of table that has markers; `path` names it in messages. */
export function markerTable(path: string, options: ReadOptions): TableKind<MarkerRow> {
  return (columns, delimiter) => {
    const { encoding: _, ...choices } = options;
    const isChosen = Object.values(choices).some((column) => column !== undefined);
    if (isExportedTable(columns) && !isChosen) return { isExact: true, open: () => ({ read: markerOfCells }) };
    const table = forTable(path, columns, () => surveyed(columns, delimiter, options));
    return { ...table, open: () => forTable(path, columns, table.open) };
  };
}
