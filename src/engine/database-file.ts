import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
/** 200 MB at most; SQLite caches only pages that exist. */
const CACHED_PAGES = 50_000;

/**
 * An SQLite file without tables: a header and an empty schema page, as in https://www.sqlite.org/fileformat2.html. Only
 * the page size and the cache size (offset 48) are our choice.
 */
function emptyDatabase(): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.write('SQLite format 3\0', 0, 'latin1');
  page.writeUInt16BE(PAGE_BYTES, 16);
  page.set([1, 1], 18); // a rollback journal
  page.set([64, 32, 32], 21); // fractions of a page that a record may take
  page.writeUInt32BE(1, 24); // change counter
  page.writeUInt32BE(1, 28); // pages in the file
  page.writeUInt32BE(CACHED_PAGES, 48);
  page.writeUInt32BE(1, 92); // the change counter for which the number of pages holds
  page.writeUInt8(0x0d, HEADER_BYTES); // a leaf of a table
  page.writeUInt16BE(PAGE_BYTES, HEADER_BYTES + 5); // where its content would begin
  return page;
}

/**
 * Creates the file in which DynamoDB Local stores the data of an access key in a region, if it does not exist. The file
 * that DynamoDB Local creates has a cache of 2 MB, and larger transactions wait for the disk repeatedly. Call only while
 * no engine runs on the folder.
 */
export function prepareDatabaseFile(dbPath: string, accessKey: string, region: string): void {
  const path = join(dbPath, `${accessKey}_${region}.db`);
  if (!existsSync(path)) writeFileSync(path, emptyDatabase());
}
