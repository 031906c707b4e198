import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

import { readConfig } from '../../src/config.js';
import { importsFolder, importStateFile } from '../../src/ingest/markers/import-state.js';
import { keepIn } from '../../src/ingest/read/gzip.js';
import { silentLog } from '../../src/log.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import { withBackend } from '../../src/server/backend.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings } from '../support/test-database.js';

const parent = temporaryFolder();

/** Every file and folder that others may do anything with. */
const openPaths = (folder: string): string[] =>
  ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].filter(
    (name) => (statSync(join(folder, name)).mode & 0o077) !== 0,
  );

test('whatever writes to the data folder writes for its user alone', async () => {
  const folder = join(parent, 'new/data');
  const umask = process.umask(0);
  const place = { folder, table: 'parks', maxBytes: 64 * 1024 * 1024 };
  const engine = await openEmbeddedEngine(place, () => 0);
  await engine.write([], 'begun');
  await createFolderStore(join(folder, 'objects')).put('zones/a', Buffer.from('a'));
  const counts = { created: 0, updated: 0, unchanged: 0, rejected: 0 };
  const state = { identity: 'x', seed: 0, order: 'given', written: 0, counts, bulk: true, done: false } as const;
  await importStateFile(importsFolder(folder), 'demo', 'x').write(state);
  await (await keepIn(join(folder, 'unpacked'), (async function* () {})())).close();
  process.umask(umask);
  expect(existsSync(join(folder, 'parks-1.search-wal'))).toBe(true);
  expect(openPaths(join(parent, 'new'))).toEqual([]);
  await engine.close();
});

test('an index of search that others could read is theirs no longer', async () => {
  const folder = join(parent, 'old');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'parks-1.search'), '', { mode: 0o644 });
  await (await openEmbeddedEngine({ folder, table: 'parks', maxBytes: 64 * 1024 * 1024 }, () => 0)).close();
  expect(openPaths(folder)).toEqual([]);
});

test('one line says which folder others may reach, or was copied in use; its mode stays', async () => {
  const folder = join(parent, 'shared');
  mkdirSync(folder);
  const lines: string[] = [];
  const log = { ...silentLog, warn: (_: object, line: string) => void lines.push(line) };
  const open = async (mode: number, settings = engineSettings()) => {
    chmodSync(folder, mode);
    lines.splice(0);
    await withBackend({ config: readConfig({}, { ...settings, CELLPORT_DATA_DIR: folder }), log }, () =>
      Promise.resolve(),
    );
    return [...lines];
  };
  expect(await open(0o750)).toEqual([
    expect.stringMatching(/^other users .* in .*shared, whose mode is 750; .*chmod -R go= /),
  ]);
  expect(statSync(folder).mode & 0o777).toBe(0o750);
  expect(await open(0o700)).toEqual([]);

  writeFileSync(join(folder, 'keeper.json'), JSON.stringify({ port: 9, token: 'x', java: { pid: 1 }, inode: '1' }));
  expect(await open(0o700, { CELLPORT_ENGINE: 'embedded' })).toEqual([
    expect.stringMatching(/shared was copied while/),
  ]);
  expect(await open(0o700, { CELLPORT_ENGINE: 'embedded' })).toEqual([]);
  const { java } = JSON.parse(readFileSync(join(folder, 'keeper.json'), 'utf8')) as {
    java: { pid: number };
  };
  await vi.waitFor(() => expect(() => process.kill(java.pid, 0)).toThrow('ESRCH'), { timeout: 30_000 });
});
