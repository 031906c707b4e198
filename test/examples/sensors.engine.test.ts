import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startServer } from '../http/live-server.js';
import { runsAll } from '../support/rounds.js';
import { runCli, type RunningCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const run = promisify(execFile);
const example = fileURLToPath(new URL('../../examples/sensors/run.mjs', import.meta.url));

const folder = temporaryFolder();
let server: RunningCli;
let url = '';
beforeAll(async () => {
  server = runCli(['serve'], { ...engineSettings(), CELLPORT_DATA_DIR: folder, PORT: '0' });
  url = await server.serving();
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.ended;
});

/** The output of the example under each of its headings. */
async function answers(): Promise<ReadonlyMap<string, string>> {
  const { stdout, stderr } = await run(process.execPath, [example, url]);
  expect(stderr).toBe('');
  return new Map(
    stdout
      .trim()
      .split('\n\n')
      .map((paragraph) => {
        const [heading = '', answer = '', cost = ''] = paragraph.split('\n');
        expect(cost).toMatch(/^ {2}cost: \d/);
        return [heading, answer.trim()];
      }),
  );
}

test.runIf(runsAll)(
  'the sensor example sets up its registry and answers correctly, and a second run reuses it',
  async () => {
    const asked = new Map([
      ['All sensors in Poznań?', '104 on 2 pages (Bałtyk 72, Okrąglak 32)'],
      ['All sensors in Berlin?', '114 on 2 pages (Bikini-Haus 42, Haus des Lehrers 72)'],
      [
        'On floor 1 of Bałtyk, Poznań?',
        '6: baltyk-1-101-t, baltyk-1-102-c, baltyk-1-102-t, baltyk-1-103-t, baltyk-1-104-c, baltyk-1-104-t',
      ],
      ['In room 102 there?', '2: CO2 in 102, Temperature in 102'],
    ]);
    const first = await answers();
    expect(first.get('Register sensors in four buildings')).toBe('218 registered');
    expect(first.get('Record the readings of a day')).toBe('144 readings of 6 sensors');
    const second = await answers();
    expect(second.get('Register sensors in four buildings')).toBe('0 registered, 218 were there');
    for (const run of [first, second]) {
      for (const [question, answer] of asked) expect([question, run.get(question)]).toEqual([question, answer]);
      expect(run.get('One sensor with its 10 latest readings?')).toMatch(
        /^Temperature in 101, Poznań \/ Bałtyk \/ 1 \/ 101: (\d\d:00 [\d.]+ °C(, |$)){10}$/,
      );
    }
  },
);

test.runIf(runsAll)(
  'the sensor example adds nothing to a collection that has its key, but is not its own',
  async () => {
    const own = await startServer(await testDatabase());
    await own.ask('mutation { createCollection(input: { key: "demo-sensors", name: "Mine" }) { key } }');
    const failed = run(process.execPath, [example, own.url]);
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not that of the example'),
    });
    const { data } = await own.ask('{ collection(key: "demo-sensors") { markers { nodes { key } } } }');
    expect(data).toEqual({ collection: { markers: { nodes: [] } } });
    await own.close();
  },
);
