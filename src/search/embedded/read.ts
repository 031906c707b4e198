import type { Area } from '../../geo/bounds.js';
import { circleArea } from '../../geo/circle.js';
import type { SearchHit, SearchQuery, SearchReader } from '../engine.js';
import { CANDIDATES, closeness, ENOUGH, LONGEST_FOLDED, relevance, TIERS, TYPO, type Tier } from '../score.js';
import { editsAllowed, editsBetween, trigramsOf } from '../typos.js';
import { conditionsOf, idsIn, isSmall, join, type Sql } from './filter.js';
import type { SqliteReader, SqlRow } from './open.js';
import { chordOf, metersOf, vectorOf } from './vector.js';

/** Radii in meters within which the nearest documents are searched before searching everywhere. */
const RINGS = [20_000, 200_000, 1_000_000];
/** Documents without a position come last: farther than the antipode, whose chord is 2. */
const NOWHERE = 9;

const COLUMNS = 'd.id, d.pk, d.sk, d.incarnation';

/** A hit's position in the order: tier, then edits of a typo or distance, then id. */
type EmbeddedOrder = readonly [tier: number, by: number, id: number];

interface Found {
  readonly order: EmbeddedOrder;
  readonly row: SqlRow;
}

const idOf = ({ order: [, , id] }: Found) => id;

const compare = (a: EmbeddedOrder, b: EmbeddedOrder) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Parses a position returned by `search`; undefined for other texts. */
function parseOrder(text: string): EmbeddedOrder | undefined {
  try {
    const parts: unknown = JSON.parse(text);
    const isOrder = Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'number');
    return isOrder ? (parts as unknown as EmbeddedOrder) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text is a valid position of a hit. */
export const isPosition = (text: string): boolean => parseOrder(text) !== undefined;

/** Words as a full-text query. No client text can be syntax in it, because `wordsOf` leaves only letters and digits. */
const matching = (words: readonly string[]) =>
  words.map((word, index) => `"${word}"${index === words.length - 1 ? '*' : ''}`).join(' AND ');

/** Reads an index for one call, until `signal` is aborted; it then throws its reason before the next statement. */
class IndexReader {
  readonly #db: SqliteReader;
  readonly #signal: AbortSignal | undefined;

  constructor(db: SqliteReader, signal: AbortSignal | undefined) {
    this.#db = db;
    this.#signal = signal;
  }

  async #all({ sql, values }: Sql): Promise<SqlRow[]> {
    const statement = await this.#db.prepare(sql);
    this.#signal?.throwIfAborted();
    return statement.all(...values);
  }

  /** See `SearchEngine.search`. */
  async search(query: SearchQuery, after: EmbeddedOrder | undefined, limit: number): Promise<SearchHit[]> {
    const found = await (query.near ? this.#nearest(query, after, limit) : this.#best(query, after, limit));
    if (found.length < limit && (await this.#needsTypos(query)))
      found.push(...(await this.#typos(query, after)).slice(0, limit - found.length));
    return found.map(({ order, row }) => ({
      key: { pk: String(row['pk']), sk: String(row['sk']) },
      incarnation: String(row['incarnation']),
      score: scoreOf(order, query.near !== undefined),
      position: JSON.stringify(order),
    }));
  }

  /** See `SearchEngine.count`. */
  async count(query: SearchQuery): Promise<number> {
    const exact = await this.#countExact(query, undefined);
    const isEnough = exact >= ENOUGH && query.typos !== true;
    return isEnough ? exact : exact + (await this.#typos(query, undefined)).length;
  }

  async #countExact(query: SearchQuery, most: number | undefined): Promise<number> {
    const { sql, values } = select('1', query, query.words.length === 0 ? undefined : matching(query.words));
    const limit = most === undefined ? '' : ` LIMIT ${most}`;
    const [row] = await this.#all({ sql: `SELECT count(*) AS found FROM (${sql}${limit})`, values });
    return Number(row?.['found']);
  }

  async #needsTypos(query: SearchQuery): Promise<boolean> {
    const { words, typos = false } = query;
    return words.length > 0 && (typos || (await this.#countExact(query, ENOUGH)) < ENOUGH);
  }

  /** Documents with all the words, tier by tier, each in rank order. */
  async #best(query: SearchQuery, after: EmbeddedOrder | undefined, limit: number): Promise<Found[]> {
    const found: Found[] = [];
    for (const [number, tier] of TIERS.entries()) {
      const isBefore = number < (after?.[0] ?? 0);
      if (isBefore || tier === 'typo' || found.length === limit) continue;
      const sql = tierSql(query, tier, number === after?.[0] ? after[2] : undefined);
      if (sql === undefined) continue;
      const rows = await this.#all({ sql: `${sql.sql} LIMIT ?`, values: [...sql.values, limit - found.length] });
      found.push(...rows.map((row): Found => ({ order: [number, 0, Number(row['id'])], row })));
    }
    return found;
  }

  /** Documents with all the words by distance: in increasingly wide circles, until one has enough. */
  async #nearest(query: SearchQuery, after: EmbeddedOrder | undefined, limit: number): Promise<Found[]> {
    const { near, words } = query;
    if (!near || (after?.[0] ?? 0) >= TYPO) return [];
    const { x, y, z } = vectorOf(near);
    const chord = `coalesce((d.x - ?) * (d.x - ?) + (d.y - ?) * (d.y - ?) + (d.z - ?) * (d.z - ?), ${NOWHERE})`;
    const match = words.length === 0 ? undefined : matching(words);
    for (const radius of [...RINGS, undefined]) {
      const ring = radius === undefined ? undefined : circleArea(near, radius);
      const { sql, values } = select(`${COLUMNS}, ${chord} AS chord`, query, match, ring);
      const start: Sql = after
        ? { sql: 'WHERE (chord, id) > (?, ?)', values: [after[1], after[2]] }
        : { sql: '', values: [] };
      const rows = await this.#all({
        sql: `SELECT * FROM (${sql}) ${start.sql} ORDER BY chord, id LIMIT ?`,
        values: [x, x, y, y, z, z, ...values, ...start.values, limit],
      });
      const inside = radius === undefined ? rows : rows.filter(({ chord }) => Number(chord) <= chordOf(radius));
      if (radius !== undefined && inside.length < limit) continue;
      return inside.map((row) => ({ order: [0, Number(row['chord']), Number(row['id'])], row }));
    }
    return [];
  }

  /** Documents whose names differ by a few letters, without those that match the words as typed. */
  async #typos(query: SearchQuery, after: EmbeddedOrder | undefined): Promise<Found[]> {
    const typed = query.words.join(' ');
    const trigrams = trigramsOf(typed);
    if (editsAllowed(typed.length) === 0 || trigrams.length === 0) return [];
    const near = query.near && vectorOf(query.near);
    // bm25 would have nothing to count in an index that stores neither texts nor positions.
    const alike = join(
      trigrams.map((trigram) => ({
        sql: 'SELECT rowid AS id FROM trigrams WHERE trigrams MATCH ?',
        values: [`"${trigram}"`],
      })),
      ' UNION ALL ',
    );
    const restricted = restrictions(query, '+f.id');
    const where = join(restricted, ' AND ');
    const joined = restricted.length === 0 ? '' : `CROSS JOIN docs d ON d.id = f.id WHERE ${where.sql}`;
    const candidates = await this.#all({
      sql:
        `SELECT * FROM docs WHERE id IN (SELECT f.id FROM (${alike.sql}) f ${joined} ` +
        `GROUP BY f.id ORDER BY count(*) DESC, f.id LIMIT ${CANDIDATES})`,
      values: [...alike.values, ...where.values],
    });
    const found = candidates.flatMap((row): Found[] => {
      const edits = editsBetween(typed, String(row['folded']));
      if (edits === Infinity) return [];
      return [{ order: [TYPO, near ? chordBetween(near, row) : edits, Number(row['id'])], row }];
    });
    const among = { sql: 'd.id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(found.map(idOf))] };
    const { sql, values } = select('d.id', query, matching(query.words), undefined, [among]);
    const exact = new Set((await this.#all({ sql, values })).map(({ id }) => Number(id)));
    return found
      .filter((one) => !exact.has(idOf(one)))
      .toSorted((a, b) => compare(a.order, b.order))
      .filter(({ order }) => after === undefined || compare(order, after) > 0);
  }
}

/** The part of an engine that answers searches, over an open file, one at a time. */
export function readerOf(file: SqliteReader): SearchReader {
  /** Runs a call until it is aborted, in the middle of a statement, too. */
  async function until<T>(signal: AbortSignal | undefined, call: (reader: IndexReader) => Promise<T>): Promise<T> {
    const interrupt = () => file.interrupt();
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      return await call(new IndexReader(file, signal));
    } finally {
      signal?.removeEventListener('abort', interrupt);
    }
  }
  return {
    async checkpoint() {
      const [row] = await (await file.prepare('SELECT checkpoint FROM progress')).all();
      return row === undefined ? undefined : String(row['checkpoint']);
    },
    search: (query, { after, limit }, signal) =>
      until(signal, (reader) => reader.search(query, after === undefined ? undefined : parseOrder(after), limit)),
    count: (query, signal) => until(signal, (reader) => reader.count(query)),
    isPosition,
    close: async () => file.close(),
  };
}

function chordBetween(from: Readonly<Record<'x' | 'y' | 'z', number>>, row: SqlRow): number {
  if (row['x'] === null) return NOWHERE;
  return (['x', 'y', 'z'] as const).reduce((sum, axis) => sum + (Number(row[axis]) - from[axis]) ** 2, 0);
}

function scoreOf([tier, by]: EmbeddedOrder, isByDistance: boolean): number {
  if (!isByDistance) return relevance(tier, by);
  return closeness(tier, by >= NOWHERE ? Infinity : metersOf(by));
}

/** The conditions of a query. Small areas, and the ring around a point, restrict `id` through the R-tree. */
function restrictions(query: SearchQuery, id: string, ring?: Area): Sql[] {
  const { area } = query;
  const boxes = [ring, area && isSmall(area) ? area : undefined].flatMap((small) => (small ? [idsIn(small)] : []));
  return [...boxes.map(({ sql, values }) => ({ sql: `${id} IN (${sql})`, values })), ...conditionsOf(query)];
}

/** Selects documents that match a full-text query, or all; ordered by id, except within a ring. */
function select(
  columns: string,
  query: SearchQuery,
  match: string | undefined,
  ring?: Area,
  more: readonly Sql[] = [],
): Sql {
  // The plus sign keeps SQLite from running the full-text query again for each id.
  const id = match === undefined ? 'd.id' : '+f.rowid';
  const from = match === undefined ? 'docs d' : 'words f CROSS JOIN docs d ON d.id = f.rowid';
  const matched: Sql[] = match === undefined ? [] : [{ sql: 'words MATCH ?', values: [match] }];
  const { sql, values } = join([...matched, ...more, ...restrictions(query, id, ring)], ' AND ');
  return { sql: `SELECT ${columns} FROM ${from}${sql === '' ? '' : ` WHERE ${sql}`}`, values };
}

/** The documents of one tier after an id, ordered by id; undefined if there can be none. */
function tierSql(query: SearchQuery, tier: Exclude<Tier, 'typo'>, after: number | undefined): Sql | undefined {
  const folded = query.words.join(' ');
  const behind = (id: string): Sql[] => (after === undefined ? [] : [{ sql: `${id} > ?`, values: [after] }]);
  if (query.words.length === 0) {
    if (tier !== 'anywhere') return undefined;
    const { sql, values } = select(COLUMNS, query, undefined, undefined, behind('d.id'));
    return { sql: `${sql} ORDER BY d.id`, values };
  }
  const all = matching(query.words);
  if (tier === 'same name') {
    if (folded.length > LONGEST_FOLDED) return undefined;
    const same = [{ sql: 'd.folded = ?', values: [folded] }, ...behind('+d.id'), ...conditionsOf(query)];
    const { sql, values } = join(same, ' AND ');
    return { sql: `SELECT ${COLUMNS} FROM docs d INDEXED BY docs_folded WHERE ${sql} ORDER BY d.id`, values };
  }
  const other = [{ sql: 'd.folded <> ?', values: [folded] }];
  const match = tier === 'in the name' ? `{name} : (${all})` : `(${all}) NOT ({name} : (${all}))`;
  const { sql, values } = select(COLUMNS, query, match, undefined, [...behind('f.rowid'), ...other]);
  return { sql: `${sql} ORDER BY f.rowid`, values };
}
