import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

import { keepWriteAheadLog } from '../../src/engine/write-ahead.js';

const folder = mkdtempSync(join(tmpdir(), 'cellport-wal-'));
afterAll(() => rmSync(folder, { recursive: true }));
const mode = (name: string) => [...readFileSync(join(folder, name)).subarray(18, 20)];

it('turns a rollback journal into a write-ahead log, and leaves alone what SQLite has to mend first or did not make', () => {
  const rollback = Buffer.alloc(4096);
  rollback.write('SQLite format 3\0', 0, 'latin1');
  rollback.set([1, 1], 18);
  for (const name of ['old.db', 'hot.db']) writeFileSync(join(folder, name), rollback);
  writeFileSync(join(folder, 'hot.db-journal'), 'x');
  writeFileSync(join(folder, 'foreign.db'), Buffer.alloc(200, 1));
  keepWriteAheadLog(folder, 'KEY', 'local');
  keepWriteAheadLog(folder, 'KEY', 'local');
  expect(['old.db', 'hot.db', 'foreign.db', 'KEY_local.db'].map(mode)).toEqual([
    [2, 2],
    [1, 1],
    [1, 1],
    [2, 2],
  ]);
});
