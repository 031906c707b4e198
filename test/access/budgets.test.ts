import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Access, ANONYMOUS, type Principal } from '../../src/access/access.js';
import { Budgets, OwnBuckets, type Buckets } from '../../src/access/budgets.js';
import { RedisBuckets } from '../../src/access/redis-buckets.js';
import { readRules } from '../../src/access/rules.js';
import { PRICE_LIST } from '../../src/capacity/prices.js';
import { systemClock } from '../../src/clock.js';
import { silentLog } from '../../src/log.js';
import type { Budget } from '../../src/model/budget.js';
import { READS_OF_A_WRITE } from '../../src/model/read-cost.js';

const MINUTELY: Budget = { units: 60, per: 'minute' };
const SECRET = new Uint8Array(32);
let now = 0;
const clock = { now: () => now };
const rules = readRules({
  roles: {
    anonymous: { rules: [], budget: MINUTELY },
    small: { rules: [], budget: { units: 100, per: 'minute' } },
    large: { rules: [], budget: { units: 10_000, per: 'hour' } },
    free: [],
  },
});
const principal = (roles: readonly string[], id = 'key:one'): Principal => ({
  id,
  name: null,
  roles,
  variables: {},
  expiresAt: undefined,
});
const anonymous = new Access(principal([ANONYMOUS], ANONYMOUS), rules, SECRET);
const log = { ...silentLog, warn: vi.fn<(fields: object, message: string) => void>() };

function open(more: { readonly enforced?: boolean; readonly maxRequestUnits?: number } = {}): Budgets {
  return new Budgets({ buckets: new OwnBuckets(clock), enforced: true, maxRequestUnits: 60, log, ...more });
}

async function take(budgets: Budgets, units: number, actual = units, address = '192.0.2.1') {
  const reservation = await budgets.reserve(anonymous, address, units);
  if (reservation === undefined) throw new Error('there is no budget');
  if (reservation.refusal === undefined) reservation.settle(actual);
  return reservation;
}

beforeEach(() => {
  now = 0;
  log.warn.mockClear();
});

test('a write unit counts as many read units as it costs', () => {
  const { onDemandRead, onDemandWrite } = PRICE_LIST.prices;
  expect(READS_OF_A_WRITE).toBe(onDemandWrite / onDemandRead);
});

test('documents that are refused count as what is beyond a budget, for whoever has one', () => {
  const budgets = open();
  const unlimited = new Access(principal(['free']), rules, SECRET);
  for (let n = 0; n < 20; n += 1) for (const one of [anonymous, unlimited]) budgets.noteInvalid(one, '192.0.2.1');
  expect(budgets.floodOf(anonymous, '192.0.2.1')).toMatchObject({ code: 'THROTTLED' });
  expect(budgets.floodOf(unlimited, '192.0.2.1')).toBeUndefined();
  budgets.close();
});

test('of the credentials that an address makes up, few are looked up, and those that verify do not count', () => {
  const budgets = open({ enforced: false });
  const look = (address = '192.0.2.1') => budgets.admitStranger(address);
  for (let n = 0; n < 200; n += 1) look()();
  for (let n = 0; n < 50; n += 1) look();
  expect(look).toThrow(expect.objectContaining({ code: 'THROTTLED' }));
  expect(() => look('198.51.100.1')).not.toThrow();
  budgets.close();
});

test('a principal that goes on although it is refused is refused before its requests are read, and no other one', async () => {
  const budgets = open();
  await take(budgets, 60);
  for (let n = 0; n < 19; n += 1) await take(budgets, 60);
  expect(budgets.floodOf(anonymous, '192.0.2.1')).toBeUndefined();
  await take(budgets, 60);
  expect(budgets.floodOf(anonymous, '192.0.2.1')).toMatchObject({ code: 'THROTTLED' });
  expect(budgets.floodOf(anonymous, '198.51.100.1')).toBeUndefined();
});

test('the budget of a principal is its own, or the largest of its roles; roles without one have no say', () => {
  const budgetOf = (...roles: string[]) => new Access(principal(roles), rules, SECRET).budget;
  expect(budgetOf('small', 'large', 'free')).toEqual({ units: 10_000, per: 'hour' });
  expect(budgetOf('free')).toBeUndefined();
  expect(new Access({ ...principal(['large']), budget: MINUTELY }, rules, SECRET).budget).toEqual(MINUTELY);
});

test('a budget is refused once it is used up, says when to retry, and fills up evenly', async () => {
  const budgets = open();
  expect((await take(budgets, 50, 20)).cost).toEqual({ requested: 50, actual: 20, available: 40 });
  const used = await take(budgets, 40);
  expect(used.headers).toEqual([
    ['ratelimit-policy', '"budget";q=60;w=60;qu="read-units"'],
    ['ratelimit', '"budget";r=0;t=60'],
  ]);
  const refused = await take(budgets, 10);
  expect(refused.refusal).toMatchObject({ code: 'THROTTLED', details: { retryAfterMs: 10_000 } });
  expect(refused.headers.slice(1)).toEqual([
    ['ratelimit', '"budget";r=0;t=60;throttled'],
    ['retry-after', '10'],
  ]);
  now += 9_999;
  expect((await take(budgets, 10)).refusal).toBeDefined();
  now += 1;
  expect((await take(budgets, 10)).refusal).toBeUndefined();
  now += 3_600_000;
  expect((await take(budgets, 0)).available).toBe(60);
});

test('what an operation used beyond its bound is missing afterwards; operations that need nothing are served', async () => {
  const budgets = open();
  await take(budgets, 10, 100);
  now += 30_000;
  expect((await take(budgets, 1)).refusal?.details).toEqual({ retryAfterMs: 11_000 });
  expect((await take(budgets, 0)).refusal).toBeUndefined();
});

test('nobody without a credential uses the budget of another address, and no operation more than its share', async () => {
  const budgets = open({ maxRequestUnits: 0 });
  const first = await budgets.reserve(anonymous, '192.0.2.1', 5_000);
  expect([first?.ceiling, first?.cost.requested]).toEqual([15, 15]);
  for (let n = 0; n < 3; n++) await take(budgets, 15);
  expect((await take(budgets, 1)).refusal).toBeDefined();
  expect((await take(budgets, 1, 1, '192.0.2.2')).available).toBe(59);
});

describe('reports', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test('are written once a minute; measured budgets refuse nothing', async () => {
    const budgets = open({ enforced: false });
    await take(budgets, 60);
    for (let n = 0; n < 100; n++) {
      const beyond = await take(budgets, 10);
      expect([beyond.refusal, beyond.ceiling, beyond.headers[1]?.[1]]).toEqual([
        undefined,
        Infinity,
        '"budget";r=0;t=60;throttled',
      ]);
    }
    expect(log.warn).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(log.warn.mock.calls).toEqual([
      [
        { refused: { 'anonymous 192.0.2.1': 100 } },
        'Operations would have been refused in the last minute: budgets of anonymous 192.0.2.1 (100)',
      ],
    ]);
    budgets.close();
    expect(log.warn).toHaveBeenCalledOnce();
  });
});

const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;
if (!HAS_REDIS) console.warn('SKIPPED: no redis-server in the PATH');

describe.skipIf(!HAS_REDIS)('budgets in Redis', () => {
  let redis: ChildProcess;
  let url: string;
  let servers: readonly Buckets[] = [];

  beforeEach(async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => probe.close(resolve));
    url = `redis://127.0.0.1:${port}`;
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp']);
    const own = () => new OwnBuckets(systemClock);
    servers = [
      new RedisBuckets(url, 'cellport', own(), silentLog),
      new RedisBuckets(url, 'cellport', own(), silentLog),
    ];
  });
  afterEach(async () => {
    for (const server of servers) server.close();
    const gone = once(redis, 'exit');
    if (redis.exitCode === null && redis.kill('SIGKILL')) await gone;
  });

  test('are shared by all servers, and each has its own while Redis is away', async () => {
    const day: Budget = { units: 100, per: 'day' };
    const [one, other] = servers as [Buckets, Buckets];
    let attempt = 0;
    const share = async () => {
      const name = `attempt ${++attempt}`;
      await one.take(name, day, 100);
      expect((await other.take(name, day, 100)).taken).toBe(false);
    };
    await vi.waitFor(share, { timeout: 20_000 });
    const taken = await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 2 ? one : other).take('key', day, 5)));
    expect(taken.filter((level) => level.taken)).toHaveLength(20);
    expect((await one.take('key', day, -50, true)).left).toBeCloseTo(50, 0);
    expect((await other.take('key', day, 40)).taken).toBe(true);
    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await vi.waitFor(async () => expect((await one.take('key', day, 0)).left).toBe(100), { timeout: 5_000 });
  });
});
