// Prints which tests failed and why, and which only at first, the slowest files of the last run, and the counts of each
// run, from JSON reports of Vitest. Arguments: `label=report.json` per run, with an empty label for the main one. Fails if
// a run failed or ran no tests.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_LINES = 100;
const LINES_OF_TEST = 12;
const SLOWEST = 10;

const runs = process.argv.slice(2).map((argument) => {
  const [label = '', path = ''] = argument.split('=');
  return { label, ...(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined) };
});
const nameOf = (file) => relative(process.cwd(), file.name);
const prefix = ({ label }) => (label === '' ? '' : `${label}: `);

const failures = runs.flatMap((run) =>
  (run.testResults ?? []).flatMap((file) => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    // A file that could not be loaded, or whose hook failed, has no failed test.
    const all =
      failed.length > 0 || file.status !== 'failed' ? failed : [{ fullName: '', failureMessages: [file.message] }];
    return all.map(({ fullName, failureMessages }) => [
      `FAILED ${prefix(run)}${nameOf(file)} ${fullName}`.trimEnd(),
      ...failureMessages
        .join('\n')
        .split('\n')
        .slice(0, LINES_OF_TEST)
        .map((line) => `  ${line}`),
    ]);
  }),
);
// If there are many, names say more than messages.
const whole = failures.flat();
const lines = whole.length > MAX_LINES ? failures.map(([name, message]) => `${name}:${message}`) : whole;
for (const line of lines.slice(0, MAX_LINES)) console.log(line.slice(0, 500));
if (lines.length > MAX_LINES) console.log(`… and ${lines.length - MAX_LINES} more`);

// What passed only at the second try may be a rare fault.
for (const run of runs) {
  for (const file of run.testResults ?? []) {
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      if (status !== 'passed' || failureMessages.length === 0) continue;
      console.log(`PASSED WHEN TRIED AGAIN ${prefix(run)}${nameOf(file)} ${fullName}`.slice(0, 500));
      console.log(`  ${failureMessages[0].split('\n')[0]}`.slice(0, 500));
    }
  }
}

const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000;
const slowest = (runs.at(-1)?.testResults ?? []).toSorted((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
console.log(`Slowest: ${slowest.map((file) => `${nameOf(file)} ${seconds(file).toFixed(0)} s`).join(', ')}`);

for (const run of runs) {
  if (run.numTotalTests === undefined) console.log(`${prefix(run)}no report: the run was ended`);
  else console.log(`${prefix(run)}${run.numPassedTests} passed, ${run.numFailedTests} failed`);
  if (!(run.numPassedTests > 0 && run.success)) process.exitCode = 1;
}
