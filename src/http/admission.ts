import { LRUCache } from 'lru-cache';

import { systemClock } from '../clock.js';
import { afterArrivals } from '../arrivals.js';

/** The state of the server since the last call. */
export interface Load {
  /** Mean time for which the event loop was late. */
  readonly lagMs: number;
  /** Mean time of a read of the database; undefined if there were too few. */
  readonly readMs: number | undefined;
}

/** A slot for a request that is being worked on. */
export interface Place {
  /** Call once, when the work is done. */
  leave(): void;
}

/** Decides which requests start now, wait for a moment, or are refused. */
export interface Admission {
  /** Resolves with a slot, or undefined if the request must be refused; `document` identifies requests of one kind. */
  enter(document: string): Promise<Place | undefined>;
  /** Whether a request of unknown kind would be refused. */
  isFull(): boolean;
  /** Adapts the number of slots; call about ten times a second while there is work. */
  adjust(load: Load): void;
}

/** Determined by the simulation in test/http/admission.test.ts and by `npm run bench -- admission`. */
const PLACES = { first: 16, least: 4, most: 512 };
/** Mean over a tenth of a second. With more lag, refusals would also take too long. */
const MOST_LAG_MS = 8;
/** Below this lag there is room for more requests. */
const LITTLE_LAG_MS = 5;
/** Reads count as slow if they take this long, and this many times their best recent time. */
const SLOW_READ_MS = 50;
const SLOW_READ_FACTOR = 3;
/** Decay of the best recent time, applied ten times a second: it doubles in half a minute. */
const FORGET_BEST = 1.002;
const DECREASE = 0.8;

/** Kinds of requests that recently took less than this start before others, which they hardly delay. */
const LIGHT_MS = 5;
/** Minimum estimate for a light request, because receiving and sending it is not measured. */
const LEAST_LIGHT_MS = 0.2;
/** How much light work starts in one turn of the event loop, and how much may wait. */
const LIGHT_TURN_MS = 10;
const LIGHT_WAIT_MS = 100;
const KINDS = 1_000;
/** Longer documents are not remembered. */
const LONGEST_DOCUMENT = 10_000;

/** Requests wait up to the time of an answer, within these bounds. */
const WAIT_MS = { least: 100, most: 300 };
/** A request that has waited longer, because its wait was underestimated, is refused after all. */
const LONGEST_WAIT_MS = 3_000;
const MOST_WAITING = 1_000;
/** This many may always wait. */
const FEW_WAITING = 16;
/** The same for a while after a refusal: in a queue that never empties, requests only delay those after them. */
const OVERLOAD = { forMs: 1_000, waitMs: 20, fewWaiting: 3 };
/**
 * For every 20 refusals in one turn, one more request starts in the next: clients that retry at once also cost time.
 */
const REFUSALS_PER_START = 20;
/** Weight of the latest value in a moving average. */
const LATEST = 0.2;

const average = (before: number | undefined, latest: number) =>
  before === undefined ? latest : before + LATEST * (latest - before);

interface Waiting {
  readonly since: number;
  /** Expected duration, if known. */
  readonly expectedMs: number;
  /** Called with the number of requests that start in the same turn; 0 if it is refused. */
  readonly admit: (starting: number) => void;
}

/** How admission measures time, and lets the event loop handle arrived requests before it calls back. */
export interface Turns {
  readonly now: () => number;
  readonly later: (callback: () => void) => void;
}

const EVENT_LOOP: Turns = { now: () => systemClock.now(), later: afterArrivals };

/**
 * Keeps as many slots as keep the event loop and the database responsive: one more while both are, a fifth fewer when
 * one is not (additive increase, multiplicative decrease). A request that would wait longer than an answer takes is
 * refused at once, so that admitted requests are answered in time under any load; while some are refused, others hardly
 * wait.
 *
 * One request starts in each turn of the event loop, or several light ones. Otherwise one turn would answer all
 * requests that arrived during the previous one, and none could be refused before that.
 */
export function createAdmission({ now, later }: Turns = EVENT_LOOP): Admission {
  const kinds = new LRUCache<string, { readonly ms: number }>({ max: KINDS });
  const waiting: Waiting[] = [];
  const lightWaiting: Waiting[] = [];
  let lightWaitingMs = 0;
  let places = PLACES.first;
  let heavy = 0;
  /** Maximum number of slots in use since the last adjustment. */
  let taken = 0;
  let bestReadMs: number | undefined;
  /** Moving averages: duration of an answer, and time between two answers while requests wait. */
  let answerMs: number | undefined;
  let intervalMs = 0;
  /** When the last answer was given, or the first waiting request arrived. */
  let lastProgress = 0;
  let isStarting = false;
  let wasLight = false;
  /** Requests refused since others last started. */
  let refused = 0;
  let lastRefusal = -Infinity;

  /** Expected wait of the next request. While connections are accepted nothing progresses, which is no sign of slow answers. */
  const expectedWait = () => (waiting.length + 1) * Math.max(intervalMs, heavy > 0 ? now() - lastProgress : 0);

  function isFull(): boolean {
    const isOverload = now() - lastRefusal < OVERLOAD.forMs;
    if (waiting.length < (isOverload ? OVERLOAD.fewWaiting : FEW_WAITING)) return false;
    const most = isOverload ? OVERLOAD.waitMs : Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, answerMs ?? 0));
    return waiting.length >= MOST_WAITING || expectedWait() > most;
  }

  /** Refuses requests that have waited too long. */
  function refuseLate(): void {
    while (waiting[0] !== undefined && now() - waiting[0].since > LONGEST_WAIT_MS) waiting.shift()?.admit(0);
  }

  /** Starts light requests; returns whether there were any. */
  function startLight(): boolean {
    const starting: Waiting[] = [];
    for (let ms = 0; ms < LIGHT_TURN_MS;) {
      const first = lightWaiting.shift();
      if (first === undefined) break;
      lightWaitingMs -= first.expectedMs;
      ms += first.expectedMs;
      starting.push(first);
    }
    for (const { admit } of starting) admit(starting.length);
    return starting.length > 0;
  }

  function startHeavy(): void {
    const most = 1 + Math.floor(refused / REFUSALS_PER_START);
    refused = 0;
    const starting = waiting.splice(0, Math.max(0, Math.min(most, places - heavy)));
    if (heavy === 0) lastProgress = now();
    heavy += starting.length;
    taken = Math.max(taken, heavy);
    for (const { admit } of starting) admit(starting.length);
  }

  /** Starts requests in the next turn, if any can start, and so on. */
  function startNext(): void {
    if (isStarting || (lightWaiting.length === 0 && (heavy >= places || waiting.length === 0))) return;
    isStarting = true;
    later(() => {
      isStarting = false;
      refuseLate();
      // In separate turns, because the measured time of a light request would include that of one that starts with it.
      wasLight = !wasLight && startLight();
      if (!wasLight) startHeavy();
      startNext();
    });
  }

  /** Resolves when a request may start, with the number of requests that start with it; with 0 if it is refused. */
  function wait(expectedMs: number): number | Promise<number> {
    const isLight = expectedMs <= LIGHT_MS;
    if (isLight ? lightWaitingMs + expectedMs > LIGHT_WAIT_MS : isFull()) {
      refused += 1;
      if (!isLight) lastRefusal = now();
      return 0;
    }
    if (isLight) lightWaitingMs += expectedMs;
    else if (waiting.length === 0 && heavy < places) lastProgress = now();
    const admitted = new Promise<number>((admit) => {
      (isLight ? lightWaiting : waiting).push({ since: now(), expectedMs, admit });
    });
    startNext();
    return admitted;
  }

  function leaveHeavy(ms: number): void {
    answerMs = average(answerMs, ms);
    if (waiting.length > 0 || heavy >= places) intervalMs = average(intervalMs, now() - lastProgress);
    lastProgress = now();
    heavy -= 1;
    startNext();
    if (heavy === 0 && waiting.length === 0) intervalMs = 0;
  }

  return {
    async enter(document) {
      const expectedMs = Math.max(LEAST_LIGHT_MS, kinds.get(document)?.ms ?? Infinity);
      const starting = await wait(expectedMs);
      if (starting === 0) return undefined;
      const began = now();
      return {
        leave() {
          const ms = now() - began;
          const isLight = expectedMs <= LIGHT_MS;
          // Light requests run one after the other; all but the first would seem to take longer.
          const ownMs = isLight ? ms / starting : ms;
          if (document.length <= LONGEST_DOCUMENT) kinds.set(document, { ms: average(kinds.get(document)?.ms, ownMs) });
          if (!isLight) leaveHeavy(ms);
        },
      };
    },
    isFull,
    adjust({ lagMs, readMs }) {
      if (readMs !== undefined) bestReadMs = Math.min(readMs, (bestReadMs ?? Infinity) * FORGET_BEST);
      const slow = readMs !== undefined && readMs > Math.max(SLOW_READ_MS, SLOW_READ_FACTOR * (bestReadMs ?? 0));
      if (slow || lagMs > MOST_LAG_MS) places = Math.max(PLACES.least, Math.floor(Math.min(places, taken) * DECREASE));
      else if (taken >= places && lagMs < LITTLE_LAG_MS) places = Math.min(PLACES.most, places + 1);
      taken = heavy;
      refuseLate();
      startNext();
    },
  };
}
