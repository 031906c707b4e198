import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { silentLog, type Log } from '../../src/log.js';
import { openBackend } from '../../src/server/backend.js';
import { listCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { ensureTables } from '../../src/store/table/tables.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection } from '../support/test-database.js';

const turn = inTurn(2);
/** For commands, which all run the Java below, and for this process, which runs another. */
const [folder, own, files] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
const WAITING = 'Waiting for the embedded DynamoDB, which is starting or restarting';

/** A Java that does not start while a file exists. */
const held = join(folder, 'held');
const bin = temporaryFolder();
const java = execFileSync('sh', ['-c', 'command -v java'], { encoding: 'utf8' }).trim();
writeFileSync(join(bin, 'java'), `#!/bin/sh\nwhile [ -e '${held}' ]; do sleep 0.1; done\nexec '${java}' "$@"\n`, {
  mode: 0o755,
});

const running: RunningCli[] = [];
/** A command on the folder. */
function start(...args: string[]): RunningCli {
  const PATH = `${bin}:${process.env['PATH']}`;
  const cli = runCli(args, { CELLPORT_DATA_DIR: folder, PORT: '0', CELLPORT_SEARCH_MB: '0', PATH });
  running.push(cli);
  return cli;
}

afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
});

/** Kills the engine as it runs now, and waits until it is gone. */
async function killEngine(of: string): Promise<void> {
  const { java } = JSON.parse(readFileSync(join(of, 'keeper.json'), 'utf8')) as { java: { pid: number } };
  process.kill(java.pid, 'SIGKILL');
  for (;;) {
    try {
      process.kill(java.pid, 0);
    } catch {
      return;
    }
    await sleep(5);
  }
}

test('a command whose engine dies after it was opened waits until it is back, and says so once; a server that runs does not', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void lines.push(message) };
  let waits = true;
  const stopping = new AbortController();
  const backend = await openBackend(readConfig({}, { CELLPORT_DATA_DIR: own }), {
    log,
    signal: stopping.signal,
    waits: () => waits,
  });
  try {
    const { database } = backend;
    await ensureTables(database);
    await testCollection(database, { key: 'parks', name: 'Parks' });
    const list = () => listCollections(newCall(database), { first: 1 });
    await killEngine(own);
    const all = await Promise.all([list(), list(), list()]);
    expect(all.map(({ collections }) => collections.map(({ key }) => key))).toEqual([['parks'], ['parks'], ['parks']]);
    expect(lines).toEqual([WAITING]);

    waits = false;
    await killEngine(own);
    await expect(list()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(lines).toEqual([WAITING]);

    waits = true;
    await list();
    await killEngine(own);
    const asked = list();
    stopping.abort(new Error('stopped by a signal'));
    await expect(asked).rejects.toThrow('stopped by a signal');
  } finally {
    await backend.close();
  }
});

test.runIf(runsAll)(
  'a server and commands that start while the engine of another server restarts wait for it',
  async () => {
    const first = await start('serve').serving();
    const rows = join(files, 'shops.ndjson');
    writeFileSync(rows, '{"id":"a","lng":1,"lat":2}\n{"id":"b","lng":3,"lat":4}\n');
    const loaded = start('import', rows, '--collection', 'shops');
    expect(await loaded.ended).toBe(0);

    writeFileSync(held, '');
    await killEngine(folder);
    const second = start('serve');
    const imported = start('import', rows, '--collection', 'other');
    const exported = start('export', '--collection', 'shops', '--out', join(files, 'out.ndjson'));
    const checked = start('recount', '--check');
    for (const command of [second, imported, exported, checked]) await command.said(new RegExp(WAITING));
    rmSync(held);
    const url = await second.serving();
    for (const command of [imported, exported, checked]) expect(await command.ended).toBe(0);
    for (const server of [first, url]) expect((await fetch(`${server}/readyz`)).status).toBe(200);
  },
);
