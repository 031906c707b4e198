import { LRUCache } from 'lru-cache';

import { afterArrivals } from '../arrivals.js';

/** How the server has been doing since the last look. */
export interface Load {
  /** Mean time for which the event loop was late. */
  readonly lagMs: number;
  /** Mean time of a read of the database; undefined if there were too few. */
  readonly readMs: number | undefined;
}

/** A place among the requests that are worked on. */
export interface Place {
  /** To be called once, when the work is done. */
  leave(): void;
}

/** Decides which requests are worked on now, wait for a moment, or are refused. */
export interface Admission {
  /** Resolves with a place, or undefined if the request has to be refused; `document` identifies requests of one kind. */
  enter(document: string): Promise<Place | undefined>;
  /** Whether a request whose kind is not known would be refused. */
  isFull(): boolean;
  /** Adapts the number of places; to be called about ten times a second while there is work. */
  adjust(load: Load): void;
}

/** Found by the simulation in test/http/admission.test.ts and `npm run bench -- admission`. */
const PLACES = { first: 16, least: 4, most: 512 };
/** Means over a tenth of a second. With more lag, refusals would take too long as well. */
const MOST_LAG_MS = 8;
/** With less, there is room for more. */
const LITTLE_LAG_MS = 5;
/** Reads are slow if they take this long, and this many times as long as at the best of times. */
const SLOW_READ_MS = 50;
const SLOW_READ_FACTOR = 3;
/** How fast the best of times is forgotten, at ten looks a second: it doubles in half a minute. */
const FORGET_BEST = 1.002;
const DECREASE = 0.8;

/** Requests of a kind that lately took no longer are started before others: they hardly delay them. */
const LIGHT_MS = 5;
/** What to expect of a light request at least, as receiving and sending it is not measured. */
const LEAST_LIGHT_MS = 0.2;
/** How much of light work is started in one turn of the event loop, and how much may wait. */
const LIGHT_TURN_MS = 10;
const LIGHT_WAIT_MS = 100;
const KINDS = 1_000;
/** Longer documents are not remembered. */
const LONGEST_DOCUMENT = 10_000;

/** A request waits as long as an answer takes, within these. */
const WAIT_MS = { least: 100, most: 300 };
/** One that has waited for longer, because its wait was underestimated, is refused after all. */
const LONGEST_WAIT_MS = 3_000;
const MOST_WAITING = 1_000;
/** So many may always wait. */
const FEW_WAITING = 16;
/** The same for a while after a refusal: requests in a queue that never empties only delay those behind. */
const OVERLOAD = { forMs: 1_000, waitMs: 20, fewWaiting: 3 };
/** For so many refusals in a turn, one more request starts in the next: clients that retry at once cost time, too. */
const REFUSALS_PER_START = 20;
/** Weight of the latest value in a moving average. */
const LATEST = 0.2;

const average = (before: number | undefined, latest: number) =>
  before === undefined ? latest : before + LATEST * (latest - before);

interface Waiting {
  readonly since: number;
  /** How long it is expected to take, if that is known. */
  readonly expectedMs: number;
  /** Called with the number of requests that start in the same turn; 0 if it is refused. */
  readonly admit: (starting: number) => void;
}

/** How an admission knows the time, and lets the event loop handle what has arrived before it calls back. */
export interface Turns {
  readonly now: () => number;
  readonly later: (callback: () => void) => void;
}

const EVENT_LOOP: Turns = { now: () => performance.now(), later: afterArrivals };

/**
 * As many places as keep the event loop and the database responsive: one more while both are, a fifth fewer when one is
 * not (additive increase, multiplicative decrease). What would wait for longer than an answer takes is refused at once, so
 * that those who are admitted are answered in time, however many there are; while some are refused, others hardly wait.
 *
 * One request starts in each turn of the event loop, or some light ones. Otherwise a turn would answer, one after the other, all requests
 * that arrived during the last one, and no request could be refused before that.
 */
export function createAdmission({ now, later }: Turns = EVENT_LOOP): Admission {
  const kinds = new LRUCache<string, { readonly ms: number }>({ max: KINDS });
  const waiting: Waiting[] = [];
  const lightWaiting: Waiting[] = [];
  let lightWaitingMs = 0;
  let places = PLACES.first;
  let heavy = 0;
  /** The most places that were taken since the last adjustment. */
  let taken = 0;
  let bestReadMs: number | undefined;
  /** Moving averages: of the time of an answer, and between two of them while requests wait. */
  let answerMs: number | undefined;
  let intervalMs = 0;
  /** When the last answer was given, or the first request began to wait. */
  let lastProgress = 0;
  let isStarting = false;
  let wasLight = false;
  /** Requests refused since others were last started. */
  let refused = 0;
  let lastRefusal = -Infinity;

  /** How long the next request would wait. */
  const expectedWait = () => (waiting.length + 1) * Math.max(intervalMs, now() - lastProgress);

  function isFull(): boolean {
    const isOverload = now() - lastRefusal < OVERLOAD.forMs;
    if (waiting.length < (isOverload ? OVERLOAD.fewWaiting : FEW_WAITING)) return false;
    const most = isOverload ? OVERLOAD.waitMs : Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, answerMs ?? 0));
    return waiting.length >= MOST_WAITING || expectedWait() > most;
  }

  /** Refuses those who have waited for too long. */
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
    heavy += starting.length;
    taken = Math.max(taken, heavy);
    for (const { admit } of starting) admit(starting.length);
  }

  /** Starts requests in the next turn, if some can start, and so on. */
  function startNext(): void {
    if (isStarting || (lightWaiting.length === 0 && (heavy >= places || waiting.length === 0))) return;
    isStarting = true;
    later(() => {
      isStarting = false;
      refuseLate();
      // In turns, as the time of a light request would include that of one that starts with it.
      wasLight = !wasLight && startLight();
      if (!wasLight) startHeavy();
      startNext();
    });
  }

  /** Resolves when a request may start, with the number of those that start with it; with 0 if it is refused. */
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
          // Light ones run one after the other; all but the first would seem to take longer.
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
