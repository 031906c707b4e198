// `npm test`: runs Vitest with the given arguments, and then once more the files that failed, without others beside them: a
// busy machine may hold a process up for longer than what a test waits for. The report, if one is asked for, has the
// results of the last run of each file, and the failures before it. Unit tests wait for nothing: they have one try.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const VITEST = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const UNHANDLED_ERRORS = join(import.meta.dirname, 'unhandled-errors.mjs');
const OUTPUT = '--outputFile.json=';
const WAITS = /\.(engine|browser|opensearch|soak)\.test\.ts$/;

const args = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'cellport-tests-'));
const asked = args.find((argument) => argument.startsWith(OUTPUT))?.slice(OUTPUT.length);
const others = args.filter((argument) => !argument.startsWith('--reporter') && !argument.startsWith(OUTPUT));
const unhandled = join(folder, 'unhandled-errors');

/** Runs Vitest. Gives its exit code and its report. */
function run(name, these, more = {}) {
  const path = join(folder, name);
  const { status } = spawnSync(
    process.execPath,
    [
      VITEST,
      'run',
      ...these,
      '--reporter=default',
      '--reporter=json',
      `--reporter=${UNHANDLED_ERRORS}`,
      `${OUTPUT}${path}`,
    ],
    { stdio: 'inherit', env: { ...process.env, ...more, CELLPORT_UNHANDLED_ERRORS: unhandled } }, // oxlint-disable-line node/no-process-env
  );
  try {
    return { status: status ?? 1, report: JSON.parse(readFileSync(path, 'utf8')) };
  } catch {
    return { status: status ?? 1, report: { testResults: [] } };
  }
}

/** A file's results, with what its tests failed by before. */
function withFailures(file, before) {
  const failures = new Map(before.assertionResults.map((test) => [test.fullName, test.failureMessages]));
  const assertionResults = file.assertionResults.map((test) => ({
    ...test,
    failureMessages: test.status === 'passed' ? (failures.get(test.fullName) ?? []) : test.failureMessages,
  }));
  return { ...file, assertionResults };
}

// Options that are not Vitest's reports choose some of the tests, or watch them.
const whole = others.length === 0;
let { status, report } = run('tests.json', others, whole ? { CELLPORT_ALL_TESTS: '1' } : {});
const failed = report.testResults.filter((file) => file.status === 'failed');
const mayPass = failed.length > 0 && failed.every(({ name }) => WAITS.test(name)) && !existsSync(unhandled);
if (status !== 0 && mayPass) {
  const names = failed.map(({ name }) => relative(process.cwd(), name));
  console.log(`\nOnce more, without others beside them: ${names.join(', ')}\n`);
  // With all rounds, as the test that failed might not have its turn again.
  const chosen = others.filter((argument) => !existsSync(argument));
  const second = run('again.json', [...chosen, ...names], { CELLPORT_SOAK: '1' });
  const again = new Map(second.report.testResults.map((file) => [file.name, file]));
  const testResults = report.testResults.map((file) => {
    const next = again.get(file.name);
    return next === undefined ? file : withFailures(next, file);
  });
  const count = (wanted) =>
    testResults.reduce((sum, file) => sum + file.assertionResults.filter((test) => test.status === wanted).length, 0);
  status = second.status || Number(testResults.some((file) => file.status === 'failed'));
  report = {
    ...report,
    testResults,
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    success: status === 0,
  };
}
if (asked !== undefined) writeFileSync(asked, JSON.stringify(report));
rmSync(folder, { recursive: true, force: true });
process.exitCode = status;
