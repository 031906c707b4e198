import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

import { removeFolder } from '../support/remove-folder.js';
import { buildChecker, checkHistory, type Operation } from './history.js';
import { isIn, Model, WORLD } from './model.js';
import { planFaults } from './plan.js';

const folder = mkdtempSync(join(tmpdir(), 'cellport-porcupine-'));
afterAll(() => removeFolder(folder));
const checker = buildChecker(folder);

type Line = readonly [
  kind: Operation['kind'],
  result: Operation['result'],
  told: readonly [value?: number, version?: number],
  call: number,
  end: number,
];
const historyOf = (key: string, lines: readonly Line[]): Operation[] =>
  lines.map(([kind, result, [value, version], call, end], client) => ({
    key,
    kind,
    result,
    value,
    version,
    client,
    call,
    return: end,
  }));

const CREATED: Line = ['create', 'ok', [1, 1], 0, 10];
const GOOD: Readonly<Record<string, readonly Line[]>> = {
  'reads during an update': [CREATED, ['update', 'ok', [2, 2], 20, 50], ['read', 'ok', [2, 2], 25, 30], ['read', 'ok', [2, 2], 35, 40]], // prettier-ignore
  'an update without an answer that takes effect late': [CREATED, ['update', 'unknown', [2], 20, -1], ['read', 'ok', [1, 1], 30, 40], ['read', 'ok', [2, 2], 50, 60]], // prettier-ignore
  'one that never does': [CREATED, ['update', 'unknown', [2], 20, -1], ['read', 'ok', [1, 1], 30, 40]],
  'two clients that delete the same marker': [CREATED, ['delete', 'ok', [1, 1], 20, 40], ['delete', 'ok', [1, 1], 25, 45], ['read', 'ok', [], 50, 60]], // prettier-ignore
};
const BAD: Readonly<Record<string, readonly Line[]>> = {
  'a write acknowledged before it was made': [
    CREATED,
    ['update', 'ok', [2, 2], 20, 30],
    ['read', 'ok', [1, 1], 40, 50],
  ],
  'a read from a stale cache after a fresh one': [CREATED, ['update', 'ok', [2, 2], 20, 90], ['read', 'ok', [2, 2], 30, 40], ['read', 'ok', [1, 1], 50, 60]], // prettier-ignore
  'a lost marker': [CREATED, ['read', 'ok', [], 20, 30]],
  'an update made twice': [CREATED, ['update', 'ok', [2, 2], 20, 30], ['read', 'ok', [2, 3], 40, 50]],
  'an update that undoes another': [CREATED, ['update', 'ok', [2, 4], 20, 60], ['update', 'ok', [3, 3], 30, 40], ['read', 'ok', [2, 4], 70, 80]], // prettier-ignore
  'a conflict with itself': [
    ['create', 'CONFLICT', [1], 0, 10],
    ['read', 'ok', [1, 1], 20, 30],
  ],
  'a value that nobody wrote': [CREATED, ['read', 'ok', [7, 1], 20, 30]],
  'a marker that comes back': [CREATED, ['delete', 'ok', [1, 1], 20, 30], ['read', 'ok', [1, 1], 40, 50]],
  'a creation that is sent again after a deletion': [['create', 'unknown', [1], 0, -1], ['delete', 'ok', [1, 1], 20, 30], ['read', 'ok', [], 40, 50], ['read', 'ok', [1, 1], 60, 70]], // prettier-ignore
};

test.runIf(checker !== undefined)('Porcupine finds every bad history, and no good one', () => {
  const histories = { ...GOOD, ...BAD };
  const history = Object.entries(histories).flatMap(([key, lines]) => historyOf(key, lines));
  const { linearizable, violations, undecided } = checkHistory(checker ?? '', history);
  expect(violations.toSorted()).toEqual(Object.keys(BAD).toSorted());
  expect(linearizable.toSorted()).toEqual(Object.keys(GOOD).toSorted());
  expect(undecided).toEqual([]);
});

describe('the model', () => {
  const model = new Model();
  const write = (value: number | undefined, asked: number, returned: number, by: string) =>
    model.begin('k', { value, asked, returned, by });
  write(101, 0, 10, 'a');
  write(102, 100, 110, 'b');
  write(103, 200, Infinity, '');
  const lag = (asked: number, by: string, value?: number) => model.lag('k', asked, by, (one) => one === value);

  test('tells how late an answer is, and whether it lacks what its server acknowledged', () => {
    expect(lag(50, 'a', 101)).toEqual({ ms: 0, missesOwn: false });
    expect(lag(105, 'b', 101)).toEqual({ ms: 0, missesOwn: false });
    expect(lag(150, 'a', 101)).toEqual({ ms: 40, missesOwn: false });
    expect(lag(150, 'b', 101)).toEqual({ ms: 40, missesOwn: true });
    expect(lag(150, 'a')).toEqual({ ms: 140, missesOwn: true });
    expect(lag(900, 'b', 102)).toEqual({ ms: 0, missesOwn: false });
    expect(lag(900, 'b', 103)).toEqual({ ms: 0, missesOwn: false });
    expect(lag(900, 'b', 999)).toEqual({ ms: Infinity, missesOwn: true });
  });

  test('tells how late a count is', () => {
    expect([isIn(WORLD, 101), isIn(WORLD, undefined)]).toEqual([true, false]);
    expect(model.lagOfCount(WORLD, 300, 1)).toBe(0);
    expect(model.lagOfCount(WORLD, 300, 0)).toBe(290);
    expect(model.lagOfCount(WORLD, 300, 2)).toBe(Infinity);
  });
});

test('a seed decides the faults, and in a long run each kind occurs', () => {
  const plan = planFaults(7, 600_000, 3);
  expect(planFaults(7, 600_000, 3)).toEqual(plan);
  expect(planFaults(8, 600_000, 3)).not.toEqual(plan);
  expect(new Set(plan.map(({ fault }) => fault)).size).toBe(14);
});
