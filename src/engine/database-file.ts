import { existsSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
/** At most 200 MB; SQLite caches only pages that exist. */
const CACHED_PAGES = 50_000;

const ROLLBACK_JOURNAL = [1, 1];
const WRITE_AHEAD_LOG = [2, 2];

/**
 * Linux's type numbers of the file systems NFS, SMB (three), 9p, FUSE and VirtualBox. Some of them do not support the
 * shared memory mapping that SQLite's write-ahead log requires.
 */
const REMOTE_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256]);

/**
 * An SQLite file without tables: a header and an empty schema page, as in https://www.sqlite.org/fileformat2.html. Only
 * the journal, the page size and the cache size (offset 48) are our choice.
 */
function emptyDatabase(journal: readonly number[]): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.write('SQLite format 3\0', 0, 'latin1');
  page.writeUInt16BE(PAGE_BYTES, 16);
  page.set(journal, 18);
  page.set([64, 32, 32], 21); // fractions of a page that a record may take
  page.writeUInt32BE(1, 24); // change counter
  page.writeUInt32BE(1, 28); // pages in the file
  page.writeUInt32BE(CACHED_PAGES, 48);
  page.writeUInt32BE(1, 92); // the change counter for which the number of pages holds
  page.writeUInt8(0x0d, HEADER_BYTES); // a leaf of a table
  page.writeUInt16BE(PAGE_BYTES, HEADER_BYTES + 5); // where its content would begin
  return page;
}

/** The folder for DynamoDB Local's files within a data folder. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'dynamodb');
}

/** The file in which DynamoDB Local stores the data of an access key in a region. */
export function databaseFile(dbPath: string, accessKey: string, region: string): string {
  return join(dbPath, `${accessKey}_${region}.db`);
}

/**
 * Creates a database file if it does not exist. The one that DynamoDB Local would create has a rollback journal, with
 * which a write waits for the disk three times as long as with a write-ahead log, and a cache of 2 MB, which makes
 * larger transactions wait repeatedly. Both journals are equally safe. Call only while no engine runs on the folder.
 */
export function prepareDatabaseFile(path: string, fileSystem: number = statfsSync(dirname(path)).type): void {
  const journal = REMOTE_FILE_SYSTEMS.has(fileSystem) ? ROLLBACK_JOURNAL : WRITE_AHEAD_LOG;
  if (!existsSync(path)) writeFileSync(path, emptyDatabase(journal));
}
