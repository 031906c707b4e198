import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const file = (name: string, seconds: number, failed: readonly (readonly [string, string])[], message = '') => ({
  name: join(process.cwd(), name),
  startTime: 0,
  endTime: seconds * 1_000,
  status: failed.length > 0 || message !== '' ? 'failed' : 'passed',
  message,
  assertionResults: failed.map(([fullName, text]) => ({ fullName, status: 'failed', failureMessages: [text] })),
});
const counts = (passed: number, failed: number) => ({
  numTotalTests: passed + failed,
  numPassedTests: passed,
  numFailedTests: failed,
  success: failed === 0,
});

test('a report of test runs names what failed in each of them, and fails also for a run without a report', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, report: object) => writeFileSync(join(folder, name), JSON.stringify(report));
  const files = [file('a.test.ts', 1, [['a finds b', 'expected 1 to be 2\n at a']]), file('b.test.ts', 3, [], 'no b')];
  write('failed.json', { ...counts(4, 1), testResults: files });
  write('passed.json', { ...counts(7, 0), testResults: [file('c.test.ts', 2, []), file('d.test.ts', 30, [])] });
  const again = { fullName: 'e waits', status: 'passed', failureMessages: ['too late\n at e'] };
  write('again.json', { ...counts(1, 0), testResults: [{ ...file('e.test.ts', 1, []), assertionResults: [again] }] });
  const report = (...runs: string[]) => {
    const args = runs.map((run) => run.replace('=', `=${folder}/`));
    const { status, stdout } = spawnSync(process.execPath, ['scripts/test-report.mjs', ...args], { encoding: 'utf8' });
    return { status, lines: stdout.trim().split('\n') };
  };
  const slowest = 'Slowest: d.test.ts 30 s, c.test.ts 2 s';
  expect(report('=passed.json')).toEqual({ status: 0, lines: [slowest, '7 passed, 0 failed'] });
  expect(report('Node 22=failed.json', 'Node 24=none.json', '=passed.json')).toEqual({
    status: 1,
    lines: [
      'FAILED Node 22: a.test.ts a finds b',
      '  expected 1 to be 2',
      '   at a',
      'FAILED Node 22: b.test.ts',
      '  no b',
      slowest,
      'Node 22: 4 passed, 1 failed',
      'Node 24: no report: the run was ended',
      '7 passed, 0 failed',
    ],
  });
  expect(report('=none.json').status).toBe(1);
  expect(report('=again.json')).toMatchObject({
    status: 0,
    lines: ['PASSED WHEN TRIED AGAIN e.test.ts e waits', '  too late', 'Slowest: e.test.ts 1 s', '1 passed, 0 failed'],
  });
});
