import { parseExactly } from '../read/exact-json.js';
import { InvalidRow, isFields, keyText } from '../read/row.js';
import type { MarkerRow } from './marker-row.js';

/**
 * The columns of a table that `export` writes. A table with exactly these is read by rules of its own, by which nothing is
 * lost: properties are one JSON object, so that texts that look like numbers, empty texts and nested values come back as
 * they were; an empty cell is nothing, and a name or category that is an empty text, or begins with a quote, is written
 * as a JSON string.
 */
export const OWN_COLUMNS = ['key', 'lng', 'lat', 'name', 'category', 'place', 'properties'] as const;

/** A name or category as a cell has it. */
export function quotedLabel(label: string | null): string {
  if (label === null) return '';
  return label === '' || label.startsWith('"') ? JSON.stringify(label) : label;
}

function readLabel(cell: string): string | null {
  if (cell === '') return null;
  if (!cell.startsWith('"')) return cell;
  const label = readJson(cell);
  // A person may have written a name in quotes.
  return typeof label === 'string' ? label : cell;
}

function readJson(cell: string): unknown {
  try {
    return parseExactly(cell);
  } catch {
    return undefined;
  }
}

/** Whether a table has exactly the columns that `export` writes. */
export function isOwnTable(columns: readonly string[]): boolean {
  return columns.length === OWN_COLUMNS.length && OWN_COLUMNS.every((column, at) => columns[at] === column);
}

/** The marker in the cells of such a table; `degrees` reads a number as the table writes it. Throws InvalidRow. */
export function markerOfCells(cells: readonly string[], degrees: (cell: string) => unknown): MarkerRow {
  const [key = '', lng = '', lat = '', name = '', category = '', place = '', properties = ''] = cells;
  const names = place === '' ? [] : readJson(place);
  if (!Array.isArray(names)) throw new InvalidRow('its place is no JSON list');
  const object = properties === '' ? {} : readJson(properties);
  if (!isFields(object)) throw new InvalidRow('its properties are no JSON object');
  return {
    key: keyText('key', key),
    position: { lng: degrees(lng), lat: degrees(lat) },
    name: readLabel(name),
    category: readLabel(category),
    properties: object,
    place: names as readonly string[],
  };
}
