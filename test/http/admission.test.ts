import { describe, expect, test } from 'vitest';

import { AdaptiveAdmission, type Admission, type AdmittedRequest } from '../../src/http/admission/admission.js';
import { LightRequests } from '../../src/http/admission/light-requests.js';
import { randomFrom } from '../support/random.js';

/** A request: its turns on the CPU in ms, with a database read before each. */
interface Kind {
  readonly document: string;
  readonly turns: readonly number[];
  readonly reads: boolean;
}

interface Running {
  readonly kind: Kind;
  readonly arrived: number;
  readonly place: AdmittedRequest | undefined;
  readonly turns: number[];
  readUntil: number;
}

const VIEWPORT: Kind = { document: 'viewport', turns: [4, 4, 4, 4, 4], reads: true };
/** Answered from caches in one turn. */
const CACHED: Kind = { document: 'cached', turns: [10], reads: false };
const LIGHT: Kind = { document: 'light', turns: [1], reads: false };

/** A request that the event loop has not handled yet. */
type Arrival = Pick<Running, 'kind' | 'arrived'>;
/** The admission's work in its own turn. */
type Start = { readonly start: () => void };

interface Machine {
  readonly admission?: Admission;
  readonly clock: { now: number; readonly later: (() => void)[] };
  /** Number of concurrent database reads, and the duration of each. */
  readonly database: { readonly parallel: number; readonly ms: number };
}

interface Outcome {
  /** Answers per second within the deadline. */
  readonly goodput: number;
  readonly p99: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Duration of a refusal at the 99th percentile. */
  readonly refusedIn: number;
}

const DEADLINE_MS = 10_000;
const WARM_UP_MS = 5_000;
const DURATION_MS = 30_000;

/** Simulates requests that arrive at random for half a minute of simulated time, in steps of one millisecond. */
async function simulate(
  { admission, clock, database }: Machine,
  rates: readonly { readonly kind: Kind; readonly perSecond: number }[],
): Promise<Outcome> {
  const next = randomFrom(1);
  const start = clock.now;
  const reading: Running[] = [];
  const ready: (Running | Arrival | Start)[] = [];
  const started: Running[] = [];
  const refusals: number[] = [];
  const latencies: number[] = [];
  const refused: Record<string, number> = {};
  let window = { lag: 0, reads: 0, readMs: 0 };
  /** When each of the database's parallel workers becomes free. */
  const free = Array<number>(database.parallel).fill(start);

  function read(request: Running): void {
    const worker = free.indexOf(Math.min(...free));
    const until = Math.max(clock.now, free[worker] ?? 0) + database.ms;
    free[worker] = until;
    window.reads += 1;
    window.readMs += until - clock.now;
    request.readUntil = until;
    reading.push(request);
  }

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    ready.unshift(...started.splice(0));
    ready.push(...clock.later.splice(0).map((start) => ({ start })));
  }

  async function handle({ kind, arrived }: Arrival): Promise<void> {
    const place = admission && (await admission.enter(kind.document));
    if (admission && place === undefined) {
      if (clock.now - start < WARM_UP_MS) return;
      refused[kind.document] = (refused[kind.document] ?? 0) + 1;
      refusals.push(clock.now - arrived);
      return;
    }
    const request = { kind, arrived, place, turns: [...kind.turns], readUntil: 0 };
    // A request that needs no read is answered in the turn in which it was handled.
    if (kind.reads) read(request);
    else started.push(request);
  }

  function end(request: Running): void {
    request.place?.leave();
    if (clock.now - start > WARM_UP_MS && request.kind === rates[0]?.kind) latencies.push(clock.now - request.arrived);
  }

  // From the last arrival until everything is done, because the admission is used again.
  for (; clock.now < start + DURATION_MS || ready.length + reading.length > 0; clock.now += 1) {
    for (const { kind, perSecond } of clock.now < start + DURATION_MS ? rates : []) {
      for (let due = perSecond / 1_000; next() < due; due -= 1) ready.push({ kind, arrived: clock.now });
    }
    for (let at = reading.length - 1; at >= 0; at -= 1) {
      if (reading[at]!.readUntil <= clock.now) ready.push(...reading.splice(at, 1));
    }
    // The event loop runs one turn after the other; requests that become ready meanwhile are late by as much.
    for (let first = ready[0]; first !== undefined && !('turns' in first); first = ready[0]) {
      ready.shift();
      if ('start' in first) first.start();
      else void handle(first);
      await settle();
    }
    window.lag += ready.reduce((sum, each) => sum + ('turns' in each ? (each.turns[0] ?? 0) : 0), 0);
    const first = ready[0];
    if (first !== undefined && 'turns' in first) {
      first.turns[0] = (first.turns[0] ?? 0) - 1;
      if (first.turns[0] <= 0) {
        ready.shift();
        first.turns.shift();
        if (first.turns.length > 0) read(first);
        else end(first);
      }
    }
    if (clock.now % 100 === 99) {
      admission?.adjust({
        lagMs: window.lag / 100,
        readMs: window.reads < 5 ? undefined : window.readMs / window.reads,
      });
      window = { lag: 0, reads: 0, readMs: 0 };
    }
    await settle();
  }
  const p99 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
  const good = latencies.filter((ms) => ms <= DEADLINE_MS).length;
  return {
    goodput: good / ((DURATION_MS - WARM_UP_MS) / 1_000),
    p99: p99(latencies),
    refused,
    refusedIn: p99(refusals),
  };
}

/**
 * If ample, the CPU is the bottleneck. With two concurrent reads of 20 ms, the database is, at 20 viewports a second.
 */
const KINDS = {
  'the CPU': VIEWPORT,
  'the database': VIEWPORT,
  'the CPU, without reads,': CACHED,
};
const DATABASES = {
  'the CPU, without reads,': { parallel: 1, ms: 1 },
  'the CPU': { parallel: 64, ms: 5 },
  'the database': { parallel: 2, ms: 20 },
};
const CAPACITY = {
  'the CPU, without reads,': 100,
  'the CPU': 50,
  'the database': 20,
};

function newMachine(database: Machine['database']): Machine {
  const clock: Machine['clock'] = { now: 0, later: [] };
  const admission = new AdaptiveAdmission({
    now: () => clock.now,
    later: (callback) => void clock.later.push(callback),
  });
  return { admission, clock, database };
}

test('clients that retry at once do not prevent others from starting', async () => {
  const { admission, clock } = newMachine({ parallel: 1, ms: 1 });
  let started = 0;
  let refused = 0;
  const ask = () =>
    void admission!.enter('viewport').then((place) => {
      if (place === undefined) refused += 1;
      else started += 1;
    });
  const turn = async () => {
    for (const callback of clock.later.splice(0)) callback();
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
  };
  for (let time = 0; time < 20; time += 1) ask();
  await turn();
  expect(started).toBe(1);
  clock.now += 50;
  for (let time = 0; time < 100; time += 1) ask();
  await turn();
  expect([started, refused]).toEqual([1 + 1 + 5, 100]);
});

test('under more light requests than capacity, as many as possible are answered, and quickly', async () => {
  const one = newMachine({ parallel: 1, ms: 1 });
  await simulate(one, [{ kind: LIGHT, perSecond: 100 }]);
  const { goodput, p99, refusedIn } = await simulate(one, [{ kind: LIGHT, perSecond: 1_500 }]);
  expect(goodput).toBeGreaterThan(800);
  expect(p99).toBeLessThan(250);
  expect(refusedIn).toBeLessThan(20);
});

test('a kind that became light remains so until it takes twice as long', () => {
  const light = new LightRequests();
  const after = (...durations: readonly number[]) => {
    for (const ms of durations) light.took('a', ms);
    return light.isLight('a');
  };
  expect(light.isLight('a')).toBe(false);
  expect([after(7), after(4), after(...Array<number>(20).fill(4))]).toEqual([false, false, true]);
  expect([after(...Array<number>(20).fill(9)), after(20)]).toEqual([true, false]);
  expect([after(...Array<number>(20).fill(6)), after(...Array<number>(20).fill(4))]).toEqual([false, true]);
});

describe.each(['the CPU', 'the database', 'the CPU, without reads,'] as const)(
  'when %s is the bottleneck',
  (bottleneck) => {
    const database = DATABASES[bottleneck];
    const capacity = CAPACITY[bottleneck];
    const kind = KINDS[bottleneck];
    const load = (times: number) => [{ kind, perSecond: capacity * times }];
    const machine = () => newMachine(database);

    test('at three times the capacity, as many requests are answered as at capacity, and the rest refused at once', async () => {
      const one = machine();
      const half = await simulate(one, load(0.5));
      expect(half.refused).toEqual({});
      const full = await simulate(one, load(1));
      const over = await simulate(one, load(3));
      const best = Math.max(full.goodput, over.goodput);
      expect(over.goodput).toBeGreaterThan(0.8 * best);
      expect(over.goodput).toBeGreaterThan(0.8 * capacity);
      expect(over.p99).toBeLessThan(2 * full.p99);
      // With more slots, the CPU would only have more to do in turns.
      if (bottleneck !== 'the database') expect(over.p99).toBeLessThan(2 * half.p99);
      expect(over.refusedIn).toBeLessThan(20);
      const again = await simulate(one, load(0.5));
      expect([again.refused, again.p99 <= 2 * half.p99]).toEqual([{}, true]);
    });

    test('light requests are not refused', async () => {
      const light = { kind: LIGHT, perSecond: 50 };
      const one = machine();
      await simulate(one, [light]);
      const { refused } = await simulate(one, [...load(3), light]);
      expect(refused[kind.document]).toBeGreaterThan(0);
      expect(refused['light']).toBeUndefined();
    });

    test('without admission, nothing is answered in time', async () => {
      const { p99 } = await simulate({ clock: { now: 0, later: [] }, database }, load(3));
      expect(p99).toBeGreaterThan(DEADLINE_MS);
    });
  },
);
