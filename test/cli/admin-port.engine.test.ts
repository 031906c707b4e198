import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';

import { postQuery } from '../support/post-query.js';
import { runsAll } from '../support/rounds.js';
import { runCli, runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

test.runIf(runsAll)(
  'with workers, the primary process has the admin port, shows the sums of all, and is ready while a worker is',
  async () => {
    const database = await testDatabase('readable', { stream: true });
    const server = runCli(['serve', '--workers', '2'], {
      ...engineSettings(),
      CELLPORT_TABLE: database.tables.entities,
      CELLPORT_DATA_DIR: temporaryFolder(),
      CELLPORT_ADMIN_PORT: '0',
      PORT: '0',
    });
    onTestFinished(async () => {
      server.child.kill('SIGKILL');
      await server.ended;
    });
    const url = await server.serving();
    const [, admin = ''] = await server.said(/(http:\/\/\S+)\/status, \/metrics, \/hot-keys/);
    expect(admin).not.toBe(url);
    for (let n = 0; n < 6; n += 1) {
      const answer = await postQuery(url, 'query Counted { collections(first: 1) { nodes { key } } }', {
        headers: { connection: 'close' },
      });
      expect(answer.status).toBe(200);
    }
    const text = await (await fetch(`${admin}/metrics`)).text();
    expect(text).toContain('cellport_requests_total{operation="Counted",code=""} 6\n');
    expect(text).toContain('cellport_workers 2\n');
    expect(text).toMatch(
      new RegExp(`^cellport_read_units_total\\{table="${database.tables.derived}",index=""\\} \\d`, 'm'),
    );
    expect(await (await fetch(`${admin}/status`)).text()).toMatch(/<td>Workers<\/td><td>2<\/td>/);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    const hot = await runCliHere(['hot', '--json'], { CELLPORT_ADMIN_PORT: new URL(admin).port });
    expect(hot).toMatchObject({ code: 0, output: expect.stringContaining('"readUnits"') as unknown });

    const ready = () => fetch(`${admin}/readyz`);
    expect(await (await ready()).json()).toMatchObject({ ready: true, stream: { owner: true } });
    const pid = server.child.pid ?? 0;
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' '))
      process.kill(Number(child), 'SIGKILL');
    const reasons = async () => ((await (await ready()).json()) as { reasons: readonly string[] }).reasons;
    const none = ['no worker process answers requests'];
    await vi.waitFor(async () => expect(await reasons()).toEqual(none), { timeout: 60_000, interval: 20 });
    expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    await vi.waitFor(async () => expect((await ready()).status).toBe(200), { timeout: 60_000, interval: 100 });
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  },
);
