import { closeSync, existsSync, openSync, readSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * DynamoDB Local keeps its data in an SQLite file and leaves SQLite's settings alone: a rollback journal, which waits for
 * the disk several times an item. A write-ahead log waits once and is as safe, after a kill and after a power cut; a load
 * takes a sixth of the time. Which of the two it is stands in the file itself (https://www.sqlite.org/fileformat2.html,
 * bytes 18 and 19), so it can be chosen where nobody has the file open.
 */
const MAGIC = 'SQLite format 3\0';
const MODE_OFFSET = 18;
const ROLLBACK = Buffer.from([1, 1]);
const WRITE_AHEAD = Buffer.from([2, 2]);

const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;

/** An SQLite file without a table: a header, and the page of an empty list of tables. */
function emptyDatabase(): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.write(MAGIC, 0, 'latin1');
  page.writeUInt16BE(PAGE_BYTES, 16);
  WRITE_AHEAD.copy(page, MODE_OFFSET);
  // Payload fractions, which the format fixes.
  Buffer.from([64, 32, 32]).copy(page, 21);
  page.writeUInt32BE(1, 24); // change counter
  page.writeUInt32BE(1, 28); // pages in the file
  page.writeUInt32BE(1, 92); // the change counter for which the page count holds
  page.writeUInt8(0x0d, HEADER_BYTES); // a leaf of a table
  page.writeUInt16BE(PAGE_BYTES, HEADER_BYTES + 5); // where its content would begin
  return page;
}

/** Changes one file to a write-ahead log, unless a journal beside it still has to be rolled back by SQLite. */
function change(path: string): void {
  if (existsSync(`${path}-journal`)) return;
  const file = openSync(path, 'r+');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const read = readSync(file, header, 0, HEADER_BYTES, 0);
    const known = read === HEADER_BYTES && header.toString('latin1', 0, MAGIC.length) === MAGIC;
    const mode = header.subarray(MODE_OFFSET, MODE_OFFSET + ROLLBACK.length);
    if (known && mode.equals(ROLLBACK)) writeSync(file, WRITE_AHEAD, 0, WRITE_AHEAD.length, MODE_OFFSET);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes the database files of a folder, and the one that DynamoDB Local will make for this access key and region, keep a
 * write-ahead log. To be called while no engine runs on the folder.
 */
export function keepWriteAheadLog(dbPath: string, accessKey: string, region: string): void {
  const own = `${accessKey}_${region}.db`;
  const files = readdirSync(dbPath).filter((name) => name.endsWith('.db'));
  if (!files.includes(own)) writeFileSync(join(dbPath, own), emptyDatabase(), { flag: 'wx' });
  for (const name of files) change(join(dbPath, name));
}
