import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventOf } from '../test/lambda/http-events.js';
import { settingsOf } from '../test/support/engine-settings.js';
import { openFreshTables } from './rig/fresh-tables.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, Row } from './section.js';

const STARTS = 9;
const query = '{ collections(first: 10) { nodes { key count } } }';
const ASKED = eventOf('url', {
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query }),
});

/** Prints milliseconds since the process began: when the file has been loaded, and after the first and a later answer. */
const PROGRAM = `const { handler } = await import('./http.mjs');
const times = [performance.now()];
const event = ${JSON.stringify(ASKED)};
for (let call = 0; call < 20; call += 1) {
  const began = performance.now();
  const { statusCode } = await handler(event);
  if (statusCode !== 200) throw new Error('it answered with ' + statusCode);
  if (call === 0) times.push(performance.now());
  if (call === 19) times.push(performance.now() - began);
}
const { userCPUTime, systemCPUTime } = process.resourceUsage();
console.log(JSON.stringify([...times, (userCPUTime + systemCPUTime) / 1000, process.memoryUsage.rss() / 1048576]));
process.exit();`;

async function started(folder: string, env: NodeJS.ProcessEnv): Promise<readonly number[]> {
  const began = performance.now();
  const child = spawn(process.execPath, ['run.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  await once(child, 'close');
  const [loaded = NaN, first = NaN, later = NaN, cpu = NaN, megabytes = NaN] = JSON.parse(text) as readonly number[];
  return [loaded, first, later, cpu, megabytes, performance.now() - began];
}

export const lambda: Benchmark = {
  name: 'lambda',
  hasCounts: false,
  async run({ say }) {
    execFileSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { stdio: 'ignore' });
    const { engine, database, close } = await openFreshTables({ table: 'bench-lambda' });
    const folder = await mkdtemp(join(tmpdir(), 'cellport-lambda-'));
    try {
      await copyFile('dist/lambda/http.mjs', join(folder, 'http.mjs'));
      await writeFile(join(folder, 'run.mjs'), PROGRAM);
      const env = {
        ...settingsOf(engine),
        CELLPORT_TABLE: database.tables.entities,
        CELLPORT_AUTH: 'off',
        CELLPORT_LOG: 'error',
        PATH: process.env['PATH'],
      };
      const runs: (readonly number[])[] = [];
      for (let start = 0; start < STARTS; start += 1) {
        runs.push(await started(folder, env));
        say(`start ${start + 1} of ${STARTS}: first answer after ${shown(runs.at(-1)?.[1] ?? NaN, 0)} ms`);
      }
      const of = (index: number) =>
        quantile(
          runs.map((run) => run[index] ?? NaN),
          0.5,
        );
      const row = (what: string, measured: string): Row => ({ what, bar: '', measured, against: '' });
      const { size } = await stat('dist/lambda/http.mjs');
      const rows = [
        { ...row('size of the file', `${shown(size / 1e6, 1)} MB`), bar: 'at most 8 MB', holds: size <= 8e6 },
        row('from the start of Node until it is ready for calls', `${shown(of(0), 0)} ms`),
        row('until the first answer', `${shown(of(1), 0)} ms`),
        row('the 20th answer', `${shown(of(2), 1)} ms`),
        row('CPU time of it all', `${shown(of(3), 0)} ms`),
        row('memory', `${shown(of(4), 0)} MB`),
      ];
      const text = `Medians of ${STARTS} starts with the embedded database, which answers within milliseconds like DynamoDB.`;
      return { title: 'A cold start of the function for HTTP', rows, text, isDetail: true };
    } finally {
      await rm(folder, { recursive: true, force: true });
      await close();
    }
  },
};
