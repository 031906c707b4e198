import { systemClock } from '../../clock.js';
import { canonicalLng, type Bounds } from '../../geo/bounds.js';
import { IndexFull, type SearchChange, type SearchDocument } from '../engine.js';
import { LONGEST_FOLDED } from '../score.js';
import { GONE_KEPT_MS } from '../stored.js';
import { wordsOf } from '../words.js';
import { sqliteCode, type Sqlite, type SqlRow } from './open.js';
import { vectorOf } from './vector.js';

/**
 * Maximum number of documents that share a rank: the low bits of their ids. With the 30 bits of the rank, an id stays
 * below 2^53.
 */
const IDS_OF_RANK = 2 ** 23;
const LAST_RANK = 2 ** 30 - 1;
/** Finds a free id while 99% of them are taken, except in one of 20,000 cases. */
const MOST_GUESSES = 1_000;

const bits = new DataView(new ArrayBuffer(4));

/**
 * A number from 0 to 2^30 - 1 that decreases with rank, from the upper 30 bits of the rank as a 32-bit float: ranks
 * that differ by less than a millionth may be equal.
 */
export function rankBits(rank: number | undefined): number {
  if (rank === undefined || Number.isNaN(rank)) return LAST_RANK;
  bits.setFloat32(0, rank);
  const pattern = bits.getUint32(0);
  const rising = pattern >= 0x80000000 ? ~pattern >>> 0 : (pattern | 0x80000000) >>> 0;
  return (0xffffffff - rising) >>> 2;
}

/** A bounding box with the antimeridian only at -180; a box that spans all longitudes still does. */
function canonical({ west, south, east, north }: Bounds): Bounds {
  return { west: canonicalLng(west), south, east: west === -180 ? east : canonicalLng(east), north };
}

/** Writes into an index. One batch at a time. */
export class IndexWriter {
  readonly #db: Sqlite;
  readonly #diskFault: () => Promise<string | undefined>;
  readonly #statements = new Map<string, ReturnType<Sqlite['prepare']>>();

  /** `diskFault` says why the disk takes no more, if that is so. */
  constructor(db: Sqlite, diskFault: () => Promise<string | undefined>) {
    this.#db = db;
    this.#diskFault = diskFault;
  }

  #statement(sql: string) {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #run(sql: string, ...values: unknown[]): void {
    this.#statement(sql).run(...values);
  }

  #get(sql: string, ...values: unknown[]): SqlRow | undefined {
    return this.#statement(sql).get(...values) as SqlRow | undefined;
  }

  /** See `SearchEngine.write`. Reads see what was committed before. */
  write(changes: readonly SearchChange[], checkpoint: string, now: number): Promise<void> {
    return this.#transaction(() => {
      for (const change of changes) {
        if (change.type === 'put') this.#put(change.document);
        else this.#remove(change.key, change.incarnation, now);
      }
      this.#run('DELETE FROM gone WHERE at < ?', now - GONE_KEPT_MS);
      this.#run('INSERT OR REPLACE INTO progress VALUES (1, ?)', checkpoint);
    });
  }

  clear(): Promise<void> {
    return this.#transaction(() => {
      for (const table of ['docs', 'boxes', 'gone', 'progress']) this.#run(`DELETE FROM ${table}`);
      for (const table of ['words', 'trigrams']) this.#run(`INSERT INTO ${table}(${table}) VALUES ('delete-all')`);
    });
  }

  async #transaction(work: () => void): Promise<void> {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      // SQLite says the same of a full disk, which others may make room on.
      const isFull = sqliteCode(error) === 'SQLITE_FULL' && (await this.#diskFault()) === undefined;
      throw isFull ? new IndexFull('the search index is full', { cause: error }) : error;
    }
  }

  #put(document: SearchDocument): void {
    const { key, incarnation, version } = document;
    const known = this.#get('SELECT id, incarnation, version FROM docs WHERE pk = ? AND sk = ?', key.pk, key.sk);
    const rank = rankBits(document.rank);
    const id = known === undefined ? undefined : Number(known['id']);
    const hasRank = id !== undefined && Math.floor(id / IDS_OF_RANK) === rank;
    if (incarnation !== '') {
      const same = known?.['incarnation'] === incarnation;
      const newer = same ? Number(known['version']) - version : -1;
      if (version > 0 && (newer > 0 || (newer === 0 && hasRank))) return;
      if (!same && this.#isGone(key, incarnation)) return;
    }
    if (id !== undefined) this.#delete(id);
    this.#insert(hasRank ? id : this.#freeId(rank), document);
  }

  #isGone({ pk, sk }: SearchDocument['key'], incarnation: string): boolean {
    return (
      this.#get('SELECT 1 FROM gone WHERE pk = ? AND sk = ? AND incarnation = ?', pk, sk, incarnation) !== undefined
    );
  }

  #freeId(rank: number): number {
    const first = rank * IDS_OF_RANK;
    const last = first + IDS_OF_RANK - 1;
    const highest = this.#get('SELECT max(id) AS id FROM docs WHERE id BETWEEN ? AND ?', first, last)?.['id'];
    if (highest !== last) return typeof highest === 'number' ? highest + 1 : first;
    // Most ids may be those of documents that are gone.
    for (let guesses = 0; guesses < MOST_GUESSES; guesses++) {
      const id = first + Math.floor(systemClock.random() * IDS_OF_RANK);
      if (this.#get('SELECT 1 FROM docs WHERE id = ?', id) === undefined) return id;
    }
    throw new IndexFull(`about ${IDS_OF_RANK} documents have the same rank`);
  }

  #insert(id: number, { key, scope, incarnation, version, name, rest, bounds }: SearchDocument): void {
    const words = wordsOf(name);
    const folded = words.join(' ').slice(0, LONGEST_FOLDED);
    const box = bounds && canonical(bounds);
    const { west = null, south = null, east = null, north = null } = box ?? {};
    const { x, y, z } = bounds === undefined ? { x: null, y: null, z: null } : vectorOf(bounds);
    const values = [id, key.pk, key.sk, scope, incarnation, version, folded, west, south, east, north, x, y, z];
    this.#run('INSERT INTO docs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', ...values);
    this.#run('INSERT INTO words(rowid, name, rest) VALUES (?, ?, ?)', id, words.join(' '), wordsOf(rest).join(' '));
    if (folded !== '') this.#run('INSERT INTO trigrams(rowid, name) VALUES (?, ?)', id, ` ${folded} `);
    if (box === undefined) return;
    const around = box.west > box.east;
    const edges = around ? [-180, 180] : [box.west, box.east];
    this.#run('INSERT INTO boxes VALUES (?, ?, ?, ?, ?)', id, ...edges, south, north);
  }

  #remove({ pk, sk }: SearchDocument['key'], incarnation: string, now: number): void {
    if (incarnation !== '') this.#run('INSERT OR REPLACE INTO gone VALUES (?, ?, ?, ?)', pk, sk, incarnation, now);
    const known = this.#get('SELECT id, incarnation FROM docs WHERE pk = ? AND sk = ?', pk, sk);
    if (known === undefined || (incarnation !== '' && known['incarnation'] !== incarnation)) return;
    this.#delete(Number(known['id']));
  }

  #delete(id: number): void {
    for (const table of ['words', 'trigrams']) this.#run(`DELETE FROM ${table} WHERE rowid = ?`, id);
    this.#run('DELETE FROM boxes WHERE id = ?', id);
    this.#run('DELETE FROM docs WHERE id = ?', id);
  }
}
