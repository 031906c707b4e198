/** `npm run chaos -- --minutes N --seed S`: one run, whose report is printed as JSON; exits with 1 if anything was wrong. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { compile } from '../support/compile.js';
import { removeFolder } from '../support/remove-folder.js';
import { buildChecker } from './history.js';
import { runChaos } from './run.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    history: { type: 'string' },
  },
});
const seed = Number(values.seed);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
const say = (line: string) => console.error(line);

const compiled = mkdtempSync(join(tmpdir(), 'cellport-chaos-'));
await compile(compiled);
const built = mkdtempSync(join(tmpdir(), 'cellport-porcupine-'));
try {
  say(`seed ${seed}`);
  const checker = buildChecker(built);
  const forMs = Number(values.minutes) * 60_000;
  const { history, ...report } = await runChaos({
    compiled,
    seed,

    forMs,
    checker,
    signal: stop.signal,
    say,
  });
  if (values.history !== undefined)
    writeFileSync(values.history, history.map((one) => `${JSON.stringify(one)}\n`).join(''));
  console.log(JSON.stringify(report, null, 2));
  if (report.wrong.length > 0) {
    say(`${report.wrong.length} wrong; run it again: npm run chaos -- --minutes ${values.minutes} --seed ${seed}`);
    process.exitCode = 1;
  }
} catch (error) {
  if (!stop.signal.aborted)
    say(`${String(error)}; run it again: npm run chaos -- --minutes ${values.minutes} --seed ${seed}`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
} finally {
  await Promise.all([compiled, built].map(removeFolder));
}
