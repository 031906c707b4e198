import { parseExactly } from './exact-json.js';
import { InvalidRow, isFields, keyText } from './fields.js';
import type { MarkerRow } from './marker-row.js';

/**
 * The columns that `export` writes. A table with exactly these columns is read without loss: properties are a JSON
 * object, so that strings that look like numbers, empty strings and nested values are preserved; an empty cell is null, and
 * a name or category that is empty or begins with a quote is a JSON string.
 */
export const EXPORTED_COLUMNS = ['key', 'lng', 'lat', 'name', 'category', 'place', 'properties'] as const;

/** Formats a name or category as a cell. */
export function quotedLabel(label: string | null): string {
  if (label === null) return '';
  return label === '' || label.startsWith('"') ? JSON.stringify(label) : label;
}

function readLabel(cell: string): string | null {
  if (cell === '') return null;
  if (!cell.startsWith('"')) return cell;
  const label = readJson(cell);
  // Users may have entered a name in quotes.
  return typeof label === 'string' ? label : cell;
}

function readJson(cell: string): unknown {
  try {
    return parseExactly(cell);
  } catch {
    return undefined;
  }
}

/** Whether a table has exactly these columns. */
export function isExportedTable(columns: readonly string[]): boolean {
  return columns.length === EXPORTED_COLUMNS.length && EXPORTED_COLUMNS.every((column, at) => columns[at] === column);
}

/** Parses a marker from the cells of such a table; `degrees` parses a coordinate. Throws InvalidRow. */
export function markerOfCells(cells: readonly string[], degrees: (cell: string) => unknown): MarkerRow {
  const [key = '', lng = '', lat = '', name = '', category = '', place = '', properties = ''] = cells;
  const names = place === '' ? [] : readJson(place);
  if (!Array.isArray(names)) throw new InvalidRow('place is not a JSON list');
  const object = properties === '' ? {} : readJson(properties);
  if (!isFields(object)) throw new InvalidRow('properties is not a JSON object');
  return {
    key: keyText('key', key),
    position: { lng: degrees(lng), lat: degrees(lat) },
    name: readLabel(name),
    category: readLabel(category),
    properties: object,
    place: names as readonly string[],
  };
}
