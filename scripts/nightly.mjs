// Looks for faults with new seeds for an hour, or `--minutes N`: chaos, fuzzing and simulated streams in turns. Prints one
// JSON, and exits with 1 if anything was wrong; each fault comes with the command that runs it again.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes must be a number above 0; got ${JSON.stringify(values.minutes)}`);
  process.exit(2);
}
const endsAt = Date.now() + minutes * 60_000;
const minutesLeft = () => (endsAt - Date.now()) / 60_000;
const LONGEST_CHAOS_MINUTES = 12;
const folder = mkdtempSync(join(tmpdir(), 'cellport-nightly-'));
let child;
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopped = true;
    child?.kill(signal);
  });
}

/** Runs a program of this repository; resolves with its exit code and what it printed. */
function run(args, env = {}) {
  return new Promise((resolve) => {
    child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (errors = (errors + text).slice(-4_000)));
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

const newSeed = () => Math.floor(Math.random() * 1e9);

async function chaos() {
  const seed = newSeed();
  const minutes = Math.max(0.5, Math.min(LONGEST_CHAOS_MINUTES, minutesLeft() - 2)).toFixed(1);
  const { code, output, errors } = await run([
    '--import',
    'tsx',
    'test/chaos/main.ts',
    '--minutes',
    minutes,
    '--seed',
    `${seed}`,
  ]);
  const again = `npm run chaos -- --minutes ${minutes} --seed ${seed}`;
  const report = code === null || output === '' ? { wrong: [errors] } : JSON.parse(output);
  return { kind: 'chaos', seed, again, failed: code !== 0, ...report };
}

async function tests(kind, path, runs) {
  const seed = newSeed();
  const file = join(folder, `${kind}.json`);
  const env = { CELLPORT_SEED: `${seed}`, CELLPORT_RUNS: `${runs}` };
  const args = ['node_modules/vitest/vitest.mjs', 'run', path, '--retry=0', '--reporter=json', `--outputFile=${file}`];
  const { code, errors } = await run(args, env);
  const again = `CELLPORT_SEED=${seed} CELLPORT_RUNS=${runs} npx vitest run ${path}`;
  try {
    const { numPassedTests: passed, testResults } = JSON.parse(readFileSync(file, 'utf8'));
    const failures = testResults.flatMap(({ assertionResults }) =>
      assertionResults.flatMap(({ fullName, failureMessages }) =>
        failureMessages.map((text) => `${fullName}: ${text.slice(0, 600)}`),
      ),
    );
    return { kind, seed, again, runs, passed, failed: code !== 0, failures };
  } catch {
    return { kind, seed, again, runs, failed: true, failures: [errors] };
  }
}

const turns = [
  chaos,
  () => tests('fuzzing', 'test/fuzz', 2_000),
  () => tests('simulated streams', 'test/stream/simulation', 600),
];
const results = [];
for (let turn = 0; !stopped && (turn === 0 || minutesLeft() > 1); turn += 1) {
  const result = await turns[turn % turns.length]();
  if (!stopped) results.push(result);
}
rmSync(folder, { recursive: true });
const failed = results.filter((result) => result.failed);
console.log(
  JSON.stringify({ minutes, runs: results.length, failed: failed.map(({ again }) => again), results }, null, 2),
);
process.exitCode = failed.length > 0 ? 1 : 0;
