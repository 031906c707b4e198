import type { Area, Bounds } from '../../geo/bounds.js';
import type { SearchQuery } from '../engine.js';

/** A piece of SQL, with the values for its question marks in order. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export const join = (parts: readonly (Sql | undefined)[], between: string): Sql => {
  const given = parts.filter((part) => part !== undefined);
  return { sql: given.map(({ sql }) => sql).join(between), values: given.flatMap(({ values }) => values) };
};

/**
 * Areas up to this wide and high, in degrees, are looked up in the R-tree; in larger ones, walking in rank order finds
 * the best sooner.
 */
const SMALL_DEGREES = 2;

/** Documents whose box intersects one part of an area; `east < west` is a box across the antimeridian. */
function meets({ west, south, east, north }: Bounds): Sql {
  const within = 'd.west <= ? AND d.east >= ?';
  const across = 'd.west <= ? OR d.east >= ?';
  return {
    sql: `(CASE WHEN d.west <= d.east THEN ${within} ELSE ${across} END AND d.south <= ? AND d.north >= ?)`,
    values: [east, west, east, west, north, south],
  };
}

/** The conditions on a document apart from its words. */
export function conditionsOf({ scopes, area }: SearchQuery): Sql[] {
  const conditions: Sql[] = [];
  if (scopes) conditions.push({ sql: 'd.scope IN (SELECT value FROM json_each(?))', values: [JSON.stringify(scopes)] });
  if (area) {
    const { sql, values } = join(area.parts.map(meets), ' OR ');
    conditions.push({ sql: `(${sql})`, values });
  }
  return conditions;
}

/** The ids of all documents that may lie in an area. The R-tree rounds outwards. */
export function idsIn({ parts }: Area): Sql {
  return join(
    parts.map(({ west, south, east, north }) => ({
      sql: 'SELECT id FROM boxes WHERE west <= ? AND east >= ? AND south <= ? AND north >= ?',
      values: [east, west, north, south],
    })),
    ' UNION ALL ',
  );
}

/** Whether the R-tree finds the documents of an area faster than walking in rank order. */
export function isSmall({ parts }: Area): boolean {
  const width = parts.reduce((sum, { west, east }) => sum + east - west, 0);
  return parts.every(({ south, north }) => north - south <= SMALL_DEGREES) && width <= SMALL_DEGREES;
}
