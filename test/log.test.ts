import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CellportError } from '../src/errors.js';
import { createLog } from '../src/log-output.js';
import type { LogLevel } from '../src/log.js';
import { RecordsLost, StreamReplaced } from '../src/stream/source/record-batches.js';

let lines: string[] = [];
let others: NodeJS.ExitListener[] = [];
/** The actions of the test's loggers when the process ends. */
const atExit = () => process.listeners('exit').filter((listener) => !others.includes(listener));

const open = (terminal: boolean, level: LogLevel = 'warn') =>
  createLog(level, terminal, (line) => {
    lines.push(line);
  });
const json = () =>
  lines.map((line) => JSON.parse(line) as { msg: string; count?: number; err: Record<string, unknown> });
const outage = () =>
  new CellportError('UNAVAILABLE', 'DynamoDB does not answer', {}, { cause: new Error('connect ECONNREFUSED') });

beforeEach(() => {
  lines = [];
  others = process.listeners('exit');
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  for (const listener of atExit()) process.off('exit', listener);
});

describe('equal failures', () => {
  it('are written at once, then counted once a second until there are no more', () => {
    const log = open(false);
    for (let second = 0; second < 60; second += 1) {
      for (let time = 0; time < 500; time += 1) log.warn({ err: outage(), path: [time] }, 'DynamoDB does not answer');
      vi.advanceTimersByTime(1_000);
    }
    expect(json().map(({ count }) => count)).toEqual([undefined, 499, ...Array<number>(59).fill(500)]);
    expect(new Set(json().map(({ msg }) => msg))).toEqual(new Set(['DynamoDB does not answer']));
    vi.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(61);
    // A process may open any number of logs.
    expect(atExit()).toEqual([]);
    log.warn({ err: outage() }, 'DynamoDB does not answer');
    expect(json().at(-1)?.count).toBeUndefined();
  });

  it('are those with the same level, message, code and cause, ignoring numbers', () => {
    const log = open(false);
    for (const ms of [1, 20, 300]) log.error({ err: new Error(`took ${ms} ms`) }, 'failed');
    log.error({ err: new TypeError('took 1 ms') }, 'failed');
    log.error({ err: new Error('another') }, 'failed');
    log.warn({ err: new Error('another') }, 'failed');
    log.warn({}, 'other');
    expect(json().map(({ msg, err }) => `${msg} ${String(err?.['message'])}`)).toEqual([
      'failed took 1 ms',
      'failed took 1 ms',
      'failed another',
      'failed another',
      'other undefined',
    ]);
  });

  it('are limited in number even if all differ', () => {
    const log = open(false);
    for (let n = 0; n < 100_000; n += 1) log.error({}, 'x'.repeat(n % 2_000));
    vi.advanceTimersByTime(1_000);
    expect(lines.length).toBeLessThan(250);
    expect(json().reduce((sum, { count = 1 }) => sum + count, 0)).toBe(100_000);
  });

  it('are counted until the process ends', () => {
    const log = open(false);
    for (let time = 0; time < 5; time += 1) log.warn({ err: outage() }, 'DynamoDB does not answer');
    expect(lines).toHaveLength(1);
    for (const listener of atExit()) listener(0);
    expect(json().at(-1)).toMatchObject({ count: 4 });
  });
});

describe('a terminal', () => {
  it('shows one readable line with the cause, however long or crafted', () => {
    const log = open(true);
    log.warn({ err: outage() }, 'DynamoDB does not answer');
    log.error({ err: new Error(`a\nb\u001b[2J\u2028${'c'.repeat(5_000)}`) }, 'A request failed');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}DynamoDB does not answer: connect ECONNREFUSED\n$/);
    expect(lines[1]).toMatch(
      /^\d\d:\d\d:\d\d error A request failed: a b \[2J c{300,}… \(CELLPORT_LOG=debug shows where\)\n$/,
    );
    log.warn({ err: outage() }, 'DynamoDB does not answer');
    vi.advanceTimersByTime(1_000);
    expect(lines[2]).toMatch(/ECONNREFUSED \(1 more in the last second\)\n$/);
  });

  it('shows the stack at level debug, and only the requested levels', () => {
    open(true, 'debug').error({ err: new Error('a bug') }, 'A request failed');
    expect(lines.join('')).toMatch(/\n {4}at /);
    const { length } = lines;
    const log = open(true, 'error');
    log.warn({}, 'a warning');
    log.info({}, 'a fact');
    expect(lines).toHaveLength(length);
  });
});

it('a file gets JSON, with the stack of a bug but not of an outage', () => {
  const log = open(false);
  log.warn({ err: outage() }, 'DynamoDB does not answer');
  log.error({ err: Object.assign(new Error('socket'), { code: 'ECONNRESET' }) }, 'Cannot read the stream; retrying');
  log.warn({ err: new RecordsLost(undefined, 'trimmed') }, 'Cannot follow the stream; starting over');
  log.warn({ err: new StreamReplaced('a stream', undefined) }, 'Cannot follow the stream; starting over');
  log.error({ err: new TypeError('a bug') }, 'A request failed');
  const none = 'undefined';
  expect(json().map(({ err }) => typeof err['stack'])).toEqual([none, none, none, none, 'string']);
  expect(json()[0]?.err).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED') as string,
  });
  open(false, 'debug').warn({ err: outage() }, 'DynamoDB does not answer');
  expect(json().at(-1)?.err).toHaveProperty('stack');
});

it('a log that cannot be written stops no work', async () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('../src/log-output.ts', import.meta.url).href)};
    import { closeSync } from 'node:fs';
    const log = createLog('warn');
    closeSync(2);
    log.warn({}, 'nobody reads this');
    console.log('goes on');
  `;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('goes on\n');
});
