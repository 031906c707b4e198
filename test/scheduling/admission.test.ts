import { setMaxListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { Line, type Place } from '../../src/scheduling/admission.js';
import { Scheduler } from '../../src/scheduling/scheduler.js';
import { randomFrom } from '../support/random.js';

const DEADLINE_MS = 10_000;
const HERE = new AbortController().signal;
setMaxListeners(0, HERE);

interface Clock {
  now: number;
  readonly later: (() => void)[];
}

const lineOn = (clock: Clock, patienceMs = 1_000) => {
  const later = (callback: () => void) => void clock.later.push(callback);
  const scheduler = new Scheduler({ ...systemClock, now: () => clock.now });
  return new Line(patienceMs, DEADLINE_MS, Object.assign(scheduler, { afterArrivals: later, afterTurns: later }));
};

/** Lets everything run that waits for arrivals, turns and promises. */
async function settled(clock: Clock): Promise<void> {
  for (let quiet = 0; quiet < 5; quiet += 1) {
    if (clock.later.length > 0) quiet = 0;
    for (const callback of clock.later.splice(0)) callback();
    await Promise.resolve();
  }
}

/** Clients of a line: what happened to each request, by its number. */
function clientsOf(line: Line, clock: Clock) {
  const places = new Map<number, Place>();
  const refused: number[] = [];
  let asked = 0;
  return {
    places,
    refused,
    ask: async (count: number, gone = HERE) => {
      for (let time = 0; time < count; time += 1) {
        const number = asked++;
        void line.enter(gone).then((place) => {
          if (place === undefined) refused.push(number);
          else places.set(number, place);
        });
      }
      await settled(clock);
    },
    /** Answers the oldest request in progress. */
    answer: async () => {
      const [[number, place] = []] = places;
      if (number !== undefined) places.delete(number);
      place?.leave();
      await settled(clock);
    },
  };
}

/** A line whose requests, while others wait, are answered every `everyMs`, and its clients. */
async function busyLine(everyMs: number, patienceMs?: number) {
  const clock: Clock = { now: 0, later: [] };
  const line = lineOn(clock, patienceMs);
  const clients = clientsOf(line, clock);
  await clients.ask(60);
  for (let time = 0; time < 1_000; time += 1) {
    clock.now += everyMs;
    await clients.answer();
    await clients.ask(1);
  }
  expect(clients.refused).toEqual([]);
  return { clock, line, ...clients };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a line', () => {
  test('refuses nobody while fewer than 64 are in progress or waiting, however long answers take', async () => {
    const clock: Clock = { now: 0, later: [] };
    const { ask, refused, places } = clientsOf(lineOn(clock), clock);
    for (let time = 0; time < 64; time += 1) {
      await ask(1);
      clock.now += 9_000;
    }
    expect([refused, places.size]).toEqual([[], 16]);
    await ask(1);
    expect(refused).toEqual([64]);
  });

  test('admits in the order of arrival, and passes those who have gone', async () => {
    const { ask, answer, places, refused } = await busyLine(10);
    const gone = new AbortController();
    await ask(1, gone.signal);
    await ask(1);
    gone.abort();
    for (let time = 0; time < 70; time += 1) await answer();
    expect(refused).toEqual([1_060]);
    expect(places.size).toBe(0);
  });

  test('refuses a read that would wait for more than a second, and a write that would wait for more than two', async () => {
    const waiting = async (patienceMs: number) => {
      const { line, ask, refused } = await busyLine(10, patienceMs);
      let more = 0;
      for (; !line.isFull(); more += 1) await ask(1);
      await ask(1);
      expect(refused).toHaveLength(1);
      return 60 - 16 + more;
    };
    const [read, write] = [await waiting(1_000), await waiting(2_000)];
    expect(Math.abs(read - 100)).toBeLessThan(10);
    expect(Math.abs(write - 200)).toBeLessThan(20);
  });

  test('holds a thousand at most, however fast answers are', async () => {
    const { ask, refused } = await busyLine(0.01);
    await ask(3_000);
    expect(refused).toHaveLength(3_000 - (1_000 - (60 - 16)));
  });

  test('takes new clients as soon as others have gone', async () => {
    const { line, ask } = await busyLine(10);
    const gone = new AbortController();
    setMaxListeners(0, gone.signal);
    for (; !line.isFull();) await ask(1, gone.signal);
    gone.abort();
    expect(line.isFull()).toBe(false);
  });

  test('notices that no answers come any more, and that they come again', async () => {
    const { clock, line, ask, answer, places, refused } = await busyLine(5);
    await ask(40);
    expect(refused).toEqual([]);
    clock.now += 9_000;
    expect(line.isFull()).toBe(true);
    for (let time = 0; time < 600; time += 1) {
      clock.now += 5;
      await answer();
      if (places.size < 16 || !line.isFull()) await ask(1);
    }
    await ask(40);
    expect(refused).toEqual([]);
  });

  test('does not take a quiet night for slow answers', async () => {
    const { clock, answer, ask, refused, places } = await busyLine(5);
    while (places.size > 0) await answer();
    clock.now += 10 * 3_600_000;
    await ask(100);
    expect(refused).toEqual([]);
  });

  test('refuses those who still wait at their deadline, and says how long the others have waited', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const clock: Clock = { now: 0, later: [] };
    const { ask, answer, places, refused } = clientsOf(lineOn(clock), clock);
    await ask(18);
    clock.now += 700;
    vi.advanceTimersByTime(700);
    await answer();
    expect(places.get(16)?.waitedMs).toBe(700);
    vi.advanceTimersByTime(DEADLINE_MS - 701);
    await settled(clock);
    expect(refused).toEqual([]);
    vi.advanceTimersByTime(1);
    await settled(clock);
    expect(refused).toEqual([17]);
  });
});

/** A request: its turns on the CPU in ms, with a database read before each. */
interface Kind {
  readonly turns: readonly number[];
  readonly reads: boolean;
}

interface Running {
  readonly kind: Kind;
  readonly arrived: number;
  readonly place: Place | undefined;
  readonly turns: number[];
  readUntil: number;
}

const VIEWPORT: Kind = { turns: [4, 4, 4, 4, 4], reads: true };
/** Answered from caches in one turn. */
const CACHED: Kind = { turns: [10], reads: false };

/** A request that the event loop has not handled yet. */
type Arrival = Pick<Running, 'kind' | 'arrived'>;
/** The admission's work in its own turn. */
type Start = { readonly start: () => void };

interface Machine {
  readonly line?: Line;
  readonly clock: Clock;
  /** Number of concurrent database reads, and the duration of each. */
  readonly database: { readonly parallel: number; readonly ms: number };
}

interface Outcome {
  /** Answers per second within the deadline. */
  readonly goodput: number;
  readonly p99: number;
  readonly refused: number;
  /** Duration of a refusal at the 99th percentile. */
  readonly refusedIn: number;
}

const WARM_UP_MS = 5_000;
const DURATION_MS = 30_000;

/** Simulates requests that arrive at random for half a minute of simulated time, in steps of one millisecond. */
async function simulate({ line, clock, database }: Machine, kind: Kind, perSecond: number): Promise<Outcome> {
  const next = randomFrom(1);
  const start = clock.now;
  const reading: Running[] = [];
  const arrivals: (Arrival | Start)[] = [];
  const ready: Running[] = [];
  let stepping: Running | undefined;
  const started: Running[] = [];
  const refusals: number[] = [];
  const latencies: number[] = [];
  /** When each of the database's parallel workers becomes free. */
  const free = Array<number>(database.parallel).fill(start);

  function read(request: Running): void {
    const worker = free.indexOf(Math.min(...free));
    const until = Math.max(clock.now, free[worker] ?? 0) + database.ms;
    free[worker] = until;
    request.readUntil = until;
    reading.push(request);
  }

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    ready.unshift(...started.splice(0));
    arrivals.push(...clock.later.splice(0).map((start) => ({ start })));
  }

  async function handle({ kind, arrived }: Arrival): Promise<void> {
    const place = await line?.enter(HERE);
    if (line && place === undefined) {
      if (clock.now - start >= WARM_UP_MS) refusals.push(clock.now - arrived);
      return;
    }
    const request = { kind, arrived, place, turns: [...kind.turns], readUntil: 0 };
    // A request that needs no read is answered in the turn in which it was handled.
    if (kind.reads) read(request);
    else started.push(request);
  }

  function end(request: Running): void {
    request.place?.leave();
    if (clock.now - start > WARM_UP_MS) latencies.push(clock.now - request.arrived);
  }

  // From the last arrival until everything is done, because the line is used again.
  for (; clock.now < start + DURATION_MS || stepping || ready.length + reading.length > 0; clock.now += 1) {
    if (clock.now < start + DURATION_MS) {
      for (let due = perSecond / 1_000; next() < due; due -= 1) arrivals.push({ kind, arrived: clock.now });
    }
    for (let at = reading.length - 1; at >= 0; at -= 1) {
      if (reading[at]!.readUntil <= clock.now) ready.push(...reading.splice(at, 1));
    }
    // Between two steps, the event loop handles all that has arrived: steps are taken in turns.
    while (stepping === undefined && arrivals.length > 0) {
      const first = arrivals.shift()!;
      if ('start' in first) first.start();
      else void handle(first);
      await settle();
    }
    stepping ??= ready.shift();
    if (stepping !== undefined) {
      stepping.turns[0] = (stepping.turns[0] ?? 0) - 1;
      if (stepping.turns[0] <= 0) {
        stepping.turns.shift();
        if (stepping.turns.length > 0) read(stepping);
        else end(stepping);
        stepping = undefined;
      }
    }
    await settle();
  }
  const p99 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
  const good = latencies.filter((ms) => ms <= DEADLINE_MS).length;
  return {
    goodput: good / ((DURATION_MS - WARM_UP_MS) / 1_000),
    p99: p99(latencies),
    refused: refusals.length,
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
  const clock: Clock = { now: 0, later: [] };
  return { line: lineOn(clock), clock, database };
}

describe.each(['the CPU', 'the database', 'the CPU, without reads,'] as const)(
  'when %s is the bottleneck',
  (bottleneck) => {
    const database = DATABASES[bottleneck];
    const capacity = CAPACITY[bottleneck];
    const kind = KINDS[bottleneck];

    test('at three times the capacity, as many requests are answered as at capacity, and the rest refused at once', async () => {
      const one = newMachine(database);
      const half = await simulate(one, kind, capacity / 2);
      expect(half.refused).toBe(0);
      const full = await simulate(one, kind, capacity);
      const over = await simulate(one, kind, 3 * capacity);
      expect(over.goodput).toBeGreaterThan(0.8 * Math.max(full.goodput, over.goodput, capacity));
      // The longer of a second and the line of the 64 that are never refused, and then an answer.
      expect(over.p99).toBeLessThan(500 + Math.max(1_000, (1_000 * 64) / capacity));
      expect(over.refused).toBeGreaterThan(0);
      expect(over.refusedIn).toBeLessThan(20);
      const again = await simulate(one, kind, capacity / 2);
      expect([again.refused, again.p99 <= 2 * half.p99]).toEqual([0, true]);
    });

    test('without admission, nothing is answered in time', async () => {
      const { p99 } = await simulate({ clock: { now: 0, later: [] }, database }, kind, 3 * capacity);
      expect(p99).toBeGreaterThan(DEADLINE_MS);
    });
  },
);
