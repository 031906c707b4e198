import { jsonIn } from '../../model/exact-json.js';
import { InvalidRow, isFields, keyText } from './fields.js';
import type { MarkerRow } from './marker-row.js';
import { degrees } from './position.js';

/**
 * The columns that `export` writes. A table with exactly these columns is read without loss: properties are a JSON
 * object, so that strings that look like numbers, empty strings and nested values are preserved; an empty cell is null, and
 * a key, name or category that is empty or begins with a quote is a JSON string.
 */
export const EXPORTED_COLUMNS = ['key', 'lng', 'lat', 'name', 'category', 'place', 'properties'] as const;

/** What makes spreadsheets take a cell for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Formats a key, name or category as a cell; `escapes` quotes those that spreadsheets would take for formulas. */
export function quotedLabel(label: string | null, escapes: boolean): string {
  if (label === null) return '';
  return label === '' || label.startsWith('"') || (escapes && FORMULA.test(label)) ? JSON.stringify(label) : label;
}

function readLabel(cell: string): string | null {
  if (cell === '') return null;
  if (!cell.startsWith('"')) return cell;
  const label = jsonIn(cell);
  // Users may have entered a name in quotes.
  return typeof label === 'string' ? label : cell;
}

/** Whether a table has exactly these columns. */
export function isExportedTable(columns: readonly string[]): boolean {
  return columns.length === EXPORTED_COLUMNS.length && EXPORTED_COLUMNS.every((column, at) => columns[at] === column);
}

/** Parses a marker from the cells of such a table. Throws InvalidRow. */
export function markerOfCells(cells: readonly string[]): MarkerRow {
  const [key = '', lng = '', lat = '', name = '', category = '', place = '', properties = ''] = cells;
  const names = place === '' ? [] : jsonIn(place);
  if (!Array.isArray(names)) throw new InvalidRow('place is not a JSON list');
  const object = properties === '' ? {} : jsonIn(properties);
  if (!isFields(object)) throw new InvalidRow('properties is not a JSON object');
  return {
    key: keyText('key', readLabel(key)),
    position: { lng: degrees(lng, 'lng'), lat: degrees(lat, 'lat') },
    name: readLabel(name),
    category: readLabel(category),
    properties: object,
    place: names as readonly string[],
  };
}
