import { isExportedTable } from '../../../src/ingest/rows/exported-csv.js';
import { InvalidRow, isFields, OWN_MEMBER, type ReadOptions, type RowFields } from '../../../src/ingest/rows/fields.js';
import { mapFields } from '../../../src/ingest/rows/marker-row.js';
import { findPosition, pointAmong, type PositionFields } from '../../../src/ingest/rows/position.js';
import type { Lines } from './lines.js';
import { openRecords } from './rows.js';
import { readHeader } from './table-rows.js';

/** Number of rows searched for properties in a file without a header. */
const SAMPLE = 200;

/** The column for each part of a place; an empty string for none. */
export interface Choice {
  readonly lat: string;
  readonly lng: string;
  readonly key: string;
  readonly name: string;
  readonly category: string;
}

/** The columns of a file. */
export interface Columns {
  /** What the file calls them. */
  readonly noun: 'column' | 'property';
  readonly names: readonly string[];
  /** Whether they contain the position; in features, the geometry does. */
  readonly holdPosition: boolean;
  /** The columns detected without a choice. */
  readonly found: Choice;
}

/** The position columns; undefined if several candidates exist. */
function positionAmong(names: readonly string[]): PositionFields | undefined {
  try {
    return findPosition(names, {}) ?? pointAmong(names, () => false);
  } catch (error) {
    if (error instanceof InvalidRow) return undefined;
    throw error;
  }
}

const namesIn = (rows: readonly unknown[]) => [
  ...new Set(rows.flatMap((row) => (isFields(row) ? Object.keys(row) : []))),
];

/** The columns of a table, or the fields of flat objects. */
function flatColumns(noun: Columns['noun'], names: readonly string[]): Columns {
  const { key = '', name = '', category = '' } = mapFields(names, {});
  const position = positionAmong(names);
  const { lat = '', lng = '' } =
    position && 'point' in position ? { lat: position.point, lng: position.point } : { ...position };
  return { noun, names, holdPosition: true, found: { lat, lng, key, name, category } };
}

/** The properties of features, whose keys and positions are usually beside them. */
function featureColumns(features: readonly RowFields[]): Columns {
  const names = namesIn(features.map(({ properties }) => properties));
  const { name = '', category = '' } = mapFields(names, {});
  const found = { lat: '', lng: '', key: '', name, category };
  return { noun: 'property', names, holdPosition: false, found };
}

function parsed({ text }: Lines): RowFields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for rows in the form that exports and the API use. */
function fieldsOf(rows: readonly RowFields[]): Columns | undefined {
  if (rows.some((row) => row[OWN_MEMBER] !== undefined || isFields(row['position']))) return undefined;
  return rows.some(({ type }) => type === 'Feature') ? featureColumns(rows) : flatColumns('property', namesIn(rows));
}

/**
 * The columns of a table, or the properties in the first rows of another file, for the user to choose from. Undefined
 * if there is nothing to choose: the file is empty, or has the form that exports and the API use. Throws WrongFile if
 * the page cannot read such files.
 */
export async function readColumns(file: File): Promise<Columns | undefined> {
  const { kind, lines } = await openRecords(file);
  for await (const some of lines) {
    if (kind === 'table') {
      const { columns } = readHeader(some[0]);
      return isExportedTable(columns)
        ? undefined
        : flatColumns('column', [...new Set(columns.filter((name) => name !== ''))]);
    }
    const rows = some
      .slice(0, SAMPLE)
      .map(parsed)
      .filter((row) => row !== undefined);
    if (rows.length > 0) return fieldsOf(rows);
  }
  return undefined;
}

/** The user's choices as options, without those detected anyway. */
export function optionsOf({ found }: Columns, { lat, lng, ...chosen }: Choice): ReadOptions {
  const isOwnPosition = lat !== '' && lng !== '' && (lat !== found.lat || lng !== found.lng);
  return {
    ...(isOwnPosition && { latColumn: lat, lngColumn: lng }),
    ...(chosen.key !== found.key && chosen.key !== '' && { keyColumn: chosen.key }),
    ...(chosen.name !== found.name && { nameColumn: chosen.name || null }),
    ...(chosen.category !== found.category && { categoryColumn: chosen.category || null }),
  };
}
