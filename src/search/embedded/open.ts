import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Libsql from 'libsql';
import type Promised from 'libsql/promise';

import { CellportError } from '../../errors.js';
import { loadOptional } from '../../optional-package.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../private-files.js';

export type Sqlite = Libsql.Database;
/** A connection that only reads: its statements run in threads of libsql, and another can interrupt them. */
export interface SqliteReader {
  prepare(sql: string): Promise<{ all(...values: readonly unknown[]): Promise<SqlRow[]> }>;
  interrupt(): void;
  close(): void;
}
export type SqlRow = Readonly<Record<string, unknown>>;

/** Identifies the tables below and their content. Raise it with any change of either; indexes are then rebuilt. */
const LAYOUT = 1;
const PAGE_BYTES = 4_096;
/** Maximum number of servers that keep indexes of one table in one folder. */
const MOST_FILES = 16;
/** How long to wait for a connection that holds the whole file, as one does while it closes or recovers the log. */
const BUSY_MS = 2_000;

/**
 * `docs.id` decreases with rank, so that the full-text index returns the best first and LIMIT stops early. Both
 * full-text tables store no texts; `gone` has recently deleted incarnations.
 */
const TABLES = `
CREATE TABLE docs(
  id INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, scope TEXT NOT NULL, incarnation TEXT NOT NULL,
  version INTEGER NOT NULL, folded TEXT NOT NULL, west REAL, south REAL, east REAL, north REAL, x REAL, y REAL, z REAL
);
CREATE UNIQUE INDEX docs_key ON docs(pk, sk);
CREATE INDEX docs_folded ON docs(folded);
CREATE VIRTUAL TABLE words USING fts5(
  name, rest, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2 3'
);
CREATE VIRTUAL TABLE trigrams USING fts5(name, content='', contentless_delete=1, tokenize='trigram', detail=none);
CREATE VIRTUAL TABLE boxes USING rtree(id, west, east, south, north);
CREATE TABLE gone(pk TEXT, sk TEXT, incarnation TEXT, at INTEGER, PRIMARY KEY(pk, sk, incarnation)) WITHOUT ROWID;
CREATE INDEX gone_at ON gone(at);
CREATE TABLE progress(one INTEGER PRIMARY KEY CHECK (one = 1), checkpoint TEXT NOT NULL);
PRAGMA user_version = ${LAYOUT};
`;

/** The open files of an index. Whoever reads it sees the last commit while a transaction is being written. */
export interface IndexFiles {
  readonly path: string;
  readonly writer: Sqlite;
  /** Releases the file for another process. */
  close(): void;
}

export interface IndexPlace {
  readonly folder: string;
  /** Identifies the table that the index follows. */
  readonly table: string;
  readonly maxBytes: number;
  /** Whether its file is damaged, so that an empty one replaces it. */
  readonly isDamaged?: boolean;
}

/** SQLite's error code; undefined for other errors. */
export const sqliteCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

export const isDamaged = (error: unknown) => /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '');

/** Creates an empty database, unless it exists, for this user alone; SQLite gives its other files the same mode. */
function makePrivate(path: string): void {
  writeFileSync(path, '', { flag: 'a', ...PRIVATE_FILE });
  chmodSync(path, PRIVATE_FILE.mode);
}

/** Removes a database with its associated files. */
function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

/** Creates the tables in one transaction, unless the file has them. */
function prepare(database: Sqlite): boolean {
  const [row] = database.prepare('PRAGMA user_version').all() as SqlRow[];
  if (row?.['user_version'] === LAYOUT) return true;
  const [{ tables } = { tables: 0 }] = database
    .prepare('SELECT count(*) AS tables FROM sqlite_schema')
    .all() as SqlRow[];
  if (tables !== 0) return false;
  database.exec(`BEGIN;${TABLES}COMMIT`);
  return true;
}

/**
 * Opens a file that no other process uses. A file that is damaged or has another layout is replaced by an empty one.
 */
function openFile(Database: typeof Libsql, path: string, maxBytes: number, replace: boolean): Sqlite {
  if (replace) remove(path);
  for (let emptied = false; ; emptied = true) {
    let writer: Sqlite | undefined;
    try {
      makePrivate(path);
      writer = new Database(path, { timeout: BUSY_MS });
      writer.pragma('journal_mode = WAL');
      // A crash of the machine may lose the last commits, each with its checkpoint.
      writer.pragma('synchronous = NORMAL');
      writer.pragma('journal_size_limit = 16777216');
      if (prepare(writer)) {
        writer.pragma(`max_page_count = ${Math.max(64, Math.floor(maxBytes / PAGE_BYTES))}`);
        return writer;
      }
      writer.close();
    } catch (error) {
      writer?.close();
      if (emptied || !isDamaged(error)) throw error;
    }
    remove(path);
  }
}

function loadSqlite(): typeof Libsql {
  try {
    return loadOptional('search', 'libsql') as typeof Libsql;
  } catch (cause) {
    if (cause instanceof CellportError) throw cause;
    const platform = `${process.platform} ${process.arch}`;
    const message = `search needs SQLite, and libsql has none for ${platform}: set CELLPORT_OPENSEARCH_URL, or CELLPORT_SEARCH_MB=0`;
    throw new CellportError('UNAVAILABLE', message, {}, { cause });
  }
}

const pathOf = (folder: string, table: string, number: number) => join(folder, `${table}-${number}.search`);

/** Opens an index for reading, even while others write it. */
export async function openReader(path: string): Promise<SqliteReader> {
  const Database = loadOptional('search', 'libsql', '/promise') as typeof Promised;
  return new Database(path, { readonly: true, timeout: BUSY_MS });
}

/** Opens all indexes of a table in a folder for reading; damaged ones are skipped. Throws UNAVAILABLE if SQLite does not run here. */
export async function openToRead(folder: string, table: string): Promise<SqliteReader[]> {
  loadSqlite();
  const opened: SqliteReader[] = [];
  for (let number = 1; number <= MOST_FILES; number++) {
    const path = pathOf(folder, table, number);
    if (!existsSync(path)) continue;
    const file = await openReader(path);
    try {
      const [row] = await (await file.prepare('PRAGMA user_version')).all();
      if (row?.['user_version'] === LAYOUT) {
        opened.push(file);
        continue;
      }
    } catch (error) {
      if (!isDamaged(error)) throw error;
    }
    file.close();
  }
  return opened;
}

/**
 * Opens the first index in the folder that no other process uses, because each server follows the stream into its own.
 * The lock is one of the operating system and ends with the process. Throws UNAVAILABLE if SQLite does not run here.
 */
export async function openIndexFiles({
  folder,
  table,
  maxBytes,
  isDamaged: replace = false,
}: IndexPlace): Promise<IndexFiles> {
  const Database = loadSqlite();
  mkdirSync(folder, PRIVATE_FOLDER);
  for (let number = 1; number <= MOST_FILES; number++) {
    const path = pathOf(folder, table, number);
    makePrivate(`${path}.lock`);
    const lock = new Database(`${path}.lock`);
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      lock.close();
      if (sqliteCode(error) !== 'SQLITE_BUSY') throw error;
      continue;
    }
    try {
      const writer = openFile(Database, path, maxBytes, replace);
      return {
        path,
        writer,
        close() {
          writer.close();
          lock.close();
        },
      };
    } catch (error) {
      lock.close();
      throw error;
    }
  }
  throw new CellportError('UNAVAILABLE', `${MOST_FILES} servers already keep search indexes in one data folder`);
}
