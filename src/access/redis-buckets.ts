import type { Redis } from 'ioredis';

import type { Log } from '../log.js';
import { periodMs, type Budget } from '../model/budget.js';
import { loadOptional } from '../optional-package.js';
import { backoffMs } from '../retry.js';
import type { Buckets, Level } from './budgets.js';

/** As `OwnBuckets.take`, in one step, by the clock of Redis. A bucket that is full again is not kept. */
const TAKE = `
local units, period, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local before = redis.call('HMGET', KEYS[1], 'left', 'at')
local left = math.min(units, (tonumber(before[1]) or units) + (now - (tonumber(before[2]) or now)) * units / period)
local taken = ARGV[4] == '1' or wanted == 0 or wanted <= left
if taken then left = math.min(units, left - wanted) end
redis.call('HSET', KEYS[1], 'left', tostring(left), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((units - left) * period / units) + 1000)
return { taken and 1 or 0, tostring(left) }
`;

const ANSWERS_WITHIN_MS = 250;

/** Buckets that all servers with the same tables share. While Redis does not answer, each server has its own. */
export class RedisBuckets implements Buckets {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #own: Buckets;

  constructor(url: string, table: string, own: Buckets, log: Log) {
    this.#prefix = `cellport:budget:${table}:`;
    this.#own = own;
    const { Redis: Client } = loadOptional('CELLPORT_REDIS_URL', 'ioredis') as { readonly Redis: typeof Redis };
    this.#redis = new Client(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: ANSWERS_WITHIN_MS,
      retryStrategy: (times: number) => backoffMs(times),
    });
    this.#redis.on('error', (err) => log.warn({ err }, 'Cannot reach Redis: each server counts its own budgets'));
  }

  async take(name: string, budget: Budget, wanted: number, always = false): Promise<Level> {
    const key = this.#prefix + name;
    try {
      const taking = this.#redis.eval(TAKE, 1, key, budget.units, periodMs(budget), wanted, always ? 1 : 0);
      const [taken, left] = (await taking) as [number, string];
      return { taken: taken === 1, left: Number(left) };
    } catch {
      return this.#own.take(name, budget, wanted, always);
    }
  }

  close(): void {
    this.#redis.disconnect();
  }
}
