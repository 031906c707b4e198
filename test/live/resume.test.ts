import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { createServerClock, systemClock, type Clock } from '../../src/clock.js';
import { CellportError } from '../../src/errors.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { LiveHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { randomFrom } from '../support/random.js';
import { inTurn, someOf } from '../support/rounds.js';
import { markerRecord } from './records.js';

const turn = inTurn(2);
const keys = createKeyspace('readable');
const parks = { key: 'parks', code: null } as Collection;
const START = Date.parse('2026-11-29T12:00:30Z');
const SECOND = 1_000;
const HOUR = 3_600_000;
const OVERLAP = 60 * SECOND;

interface Written {
  readonly key: string;
  readonly at: number;
  readonly record: StreamRecord;
}

/** A hub, its machine, DynamoDB and the stream, all in a time that the test moves on. */
class World {
  readonly random: () => number;
  time = START;
  /** By how much the machine's clock is ahead. */
  aheadMs = 0;
  /** By how much maps are behind. */
  behindMs = 500;
  readonly written: Written[] = [];
  /** Number of records that the hub has been given, and from which on. */
  #given = 0;
  isFollowing = false;
  readonly #unit: number;
  readonly #sleepers = new Map<() => void, number>();
  readonly clock;
  readonly hub: LiveHub;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    // DynamoDB Local truncates times to minutes.
    this.#unit = this.below(2) === 0 ? 60 * SECOND : SECOND;
    const own: Clock = {
      ...systemClock,
      now: () => this.time - START,
      wall: () => this.time + this.aheadMs,
      sleep: (ms) => new Promise((wake) => this.#sleepers.set(wake, this.time + ms)),
    };
    this.clock = createServerClock(own);
    const readStream = async (onRecord: (record: StreamRecord) => void) => {
      const upTo = this.written.length;
      await own.sleep(this.below(600));
      for (const { record } of this.written.slice(0, upTo + this.below(this.written.length - upTo + 1)))
        onRecord(record);
      return this.below(4) === 0 ? undefined : START - HOUR;
    };
    const memoryBytes = this.below(3) === 0 ? 40_000 : undefined;
    this.hub = new LiveHub({ keys, log: silentLog, clock: this.clock, readStream, memoryBytes });
    this.answer();
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  /** DynamoDB answers a request. */
  answer(): void {
    const backMs = this.below(20) === 0 ? this.below(3_000) : this.below(30);
    this.clock.answered(Math.floor((this.time - backMs) / SECOND) * SECOND, backMs + this.below(30));
  }

  write(): void {
    const key = `w${this.written.length}`;
    const at = Math.floor(this.time / this.#unit) * (this.#unit / SECOND);
    const record = markerRecord(keys, { sequence: String(this.written.length + 1), key, at, after: [1, 1] });
    this.written.push({ key, at: this.time, record });
  }

  follow(): void {
    this.isFollowing = true;
    this.#given = this.written.length;
    this.hub.connected();
  }

  lose(): void {
    this.isFollowing = false;
    this.hub.disconnected('for a test');
  }

  give(): void {
    if (!this.isFollowing) return;
    for (const { record } of this.written.slice(this.#given)) this.hub.take(record);
    this.#given = this.written.length;
  }

  /** The markers on a map. */
  map(): string[] {
    return this.written.filter(({ at }) => at <= this.time - this.behindMs).map(({ key }) => key);
  }

  async pass(ms: number): Promise<void> {
    this.time += ms;
    for (const [wake, at] of this.#sleepers) {
      if (at > this.time) continue;
      this.#sleepers.delete(wake);
      wake();
    }
    await setImmediate();
  }
}

/** A client that follows docs/consistency.md. */
class Client {
  known = new Set<string>();
  isLoaded = false;
  loads = 0;
  resumes = 0;
  readonly #world: World;
  #at = 0;
  #mustLoad = true;
  #following = false;

  constructor(world: World) {
    this.#world = world;
  }

  follow(): void {
    if (this.#following) return;
    this.#following = true;
    void this.#subscribe().finally(() => (this.#following = false));
  }

  async #subscribe(): Promise<void> {
    const { hub, clock } = this.#world;
    const loads = this.#mustLoad;
    this.isLoaded = !loads;
    try {
      const since = loads ? await hub.recentFrom(() => this.#world.behindMs) : this.#at - OVERLAP;
      if (since === undefined) return;
      const changes = await hub.markerChanges({ collection: parks, area: undefined, since });
      const known = loads ? new Set<string>() : this.known;
      if (loads) {
        Object.assign(this, { known });
        this.#at = since;
        void clock.sleep(this.#world.below(300)).then(() => {
          for (const key of this.#world.map()) known.add(key);
          this.isLoaded = true;
          this.#mustLoad = this.known !== known;
          this.loads += 1;
        });
      } else this.resumes += 1;
      for await (const { id, at } of changes) {
        known.add(id.slice(id.lastIndexOf(':') + 1));
        this.#at = Math.max(this.#at, Date.parse(at));
      }
    } catch (error) {
      if (!(error instanceof CellportError)) throw error;
      this.#mustLoad ||= error.code === 'BAD_USER_INPUT';
      if (!this.isLoaded) this.#mustLoad = true;
      this.isLoaded = false;
    }
  }
}

const JUMPS = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR, 3 * SECOND, -3 * SECOND];

async function simulate(seed: number) {
  const world = new World(seed);
  const clients = Array.from({ length: 4 }, () => new Client(world));
  const rolls = (n: number) => world.below(n) === 0;
  let isAnswering = true;
  for (let step = 0; step < 1_500; step += 1) {
    if (rolls(3)) world.write();
    if (rolls(150)) isAnswering = !isAnswering;
    if (isAnswering && rolls(2)) world.answer();
    if (rolls(200)) world.aheadMs = rolls(2) ? 0 : (JUMPS[world.below(JUMPS.length)] ?? 0);
    if (rolls(300)) world.behindMs = rolls(3) ? 30 * SECOND : rolls(2) ? 4 * SECOND : 500;
    // What is on a map stays there.
    else if (rolls(2)) world.behindMs = Math.max(300, world.behindMs - 300);
    if (world.isFollowing && rolls(120)) world.lose();
    else if (!world.isFollowing && rolls(20)) world.follow();
    if (rolls(2)) world.give();
    for (const client of clients) if (rolls(100)) client.follow();
    await world.pass(rolls(60) ? 2_000 : 100);
  }
  if (!world.isFollowing) world.follow();
  world.aheadMs = 0;
  for (let step = 0; step < 900; step += 1) {
    world.answer();
    world.give();
    world.behindMs = Math.max(300, world.behindMs - 300);
    for (const client of clients) client.follow();
    await world.pass(100);
  }
  const lacking = clients.map((client) => world.written.filter(({ key }) => !client.known.has(key)).length);
  const sum = (of: 'loads' | 'resumes') => clients.reduce((all, client) => all + client[of], 0);
  return {
    lacking,
    idle: clients.filter(({ isLoaded }) => !isLoaded).length,
    loads: sum('loads'),
    resumes: sum('resumes'),
  };
}

const FIRST = Number(process.env['CELLPORT_SEED'] ?? 1);

test('whatever happens to clocks, maps, the stream and its reader, a subscriber who loads and resumes lacks nothing', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const wrong: string[] = [];
  const sums = { loads: 0, resumes: 0 };
  for (let seed = FIRST; seed < FIRST + someOf(240) && wrong.length < 5; seed += 1) {
    const found = await simulate(seed);
    sums.loads += found.loads;
    sums.resumes += found.resumes;
    if (found.idle > 0 || found.lacking.some((count) => count > 0))
      wrong.push(`CELLPORT_SEED=${seed}: ${JSON.stringify(found)}`);
  }
  expect(wrong).toEqual([]);
  expect(Math.min(sums.loads, sums.resumes)).toBeGreaterThan(0);
}, 120_000);
