import type { Clock } from '../../clock.js';
import { completeBatch, type StreamState } from '../../store/cell/stream-state.js';
import { batchesOf, type PagesByScope, type WrittenBatch } from '../../store/page/written-pages.js';
import type { PagesPort } from '../ports.js';

/** Longest list: about 100 pages. The state is written each second, and costs a write unit for each kilobyte. */
const MOST_CHARACTERS = 1_000;
/** Most scopes and pages that are noted of a batch, as each takes four characters or more: a batch may write 100,000 pages. */
const MOST_NOTED = MOST_CHARACTERS / 4;
/** Rather than all of a batch, which may be of any collection, so many pages of one collection are forgotten. */
const MANY = 8;
/** Servers in use read the state more often. Those that have not for longer forget all pages that they have cached. */
const LISTED_MS = 30_000;

type Noted = Map<string, Set<string> | null>;

interface NotedBatch {
  readonly batch: number;
  /** By the clock of this process. */
  readonly at: number;
  readonly rounds: readonly [first: Noted, second: Noted];
  /** How many scopes and pages are noted. */
  size: number;
}

const notedOf = (pages: PagesByScope): Noted =>
  new Map(Object.entries(pages).map(([scope, begins]) => [scope, begins && new Set(begins)]));

function listed({ batch, rounds: [first, second] }: NotedBatch): WrittenBatch {
  const of = (noted: Noted, isIn: (scope: string, begin: string) => boolean): PagesByScope =>
    Object.fromEntries(
      Array.from(noted, ([scope, begins]) => [scope, begins && [...begins].filter((begin) => !isIn(scope, begin))]),
    );
  return [batch, of(first, (scope, begin) => second.get(scope)?.has(begin) === true), of(second, () => false)];
}

/** Collects the pages that a consumer writes, for its state. See `WrittenPages`. */
export class WrittenLog {
  readonly #clock: Clock;
  #since: number;
  #batches: NotedBatch[] = [];

  /** `state`: the one with which the consumer begins. */
  constructor(state: StreamState, clock: Clock) {
    const { written, batch, plan } = state;
    this.#clock = clock;
    // What another process has written of an incomplete batch is unknown.
    this.#since = batch;
    if (plan !== null || written?.to !== batch) return;
    this.#since = written.since;
    const at = clock.now();
    this.#batches = batchesOf(written).map(([of, ...rounds]) => {
      const [first, second] = rounds;
      return { batch: of, at, rounds: [notedOf(first), notedOf(second)], size: 0 };
    });
  }

  /** The same pages, whose writes are noted. */
  noting(pages: PagesPort): PagesPort {
    const write: PagesPort['write'] = (replacements) => {
      // Before they are written: a write that fails may have been done.
      for (const { scope, begin, round } of replacements) this.#note(scope, begin, Math.ceil(round));
      return pages.write(replacements);
    };
    return { ...pages, write };
  }

  #note(scope: string, begin: string, round: number): void {
    const batch = Math.floor(round / 2);
    // It has written too much to be listed.
    if (batch <= this.#since) return;
    let last = this.#batches.at(-1);
    if (last?.batch !== batch) {
      last = { batch, at: this.#clock.now(), rounds: [new Map(), new Map()], size: 0 };
      this.#batches.push(last);
    }
    const noted = last.rounds[round % 2 === 0 ? 0 : 1];
    const begins = noted.get(scope);
    if (begins === null || begins?.has(begin)) return;
    last.size += begins ? 1 : 2;
    if (begins) begins.add(begin);
    else noted.set(scope, new Set([begin]));
    while (last.size > MOST_NOTED && this.#batches.length > 0) if (!shorten(last)) this.#forgetFirst();
  }

  /** The state with the list of what was written. */
  stored(state: StreamState): StreamState {
    const before = this.#clock.now() - LISTED_MS;
    while ((this.#batches[0]?.at ?? Infinity) < before) this.#forgetFirst();
    let batches = this.#text();
    for (; batches.length > MOST_CHARACTERS; batches = this.#text()) {
      const [only, ...later] = this.#batches;
      // What is oldest matters least: most servers know it.
      const isShorter = later.length > 0 ? this.#batches.some((one) => shorten(one, MANY)) : only && shorten(only);
      if (!isShorter) this.#forgetFirst();
    }
    return { ...state, written: { since: this.#since, to: completeBatch(state), batches } };
  }

  #text(): string {
    return JSON.stringify(this.#batches.map(listed));
  }

  #forgetFirst(): void {
    this.#since = this.#batches.shift()?.batch ?? this.#since;
  }
}

/** Names no longer the pages of the scope that has most of them. Returns false if it names fewer than `least`. */
function shorten(batch: NotedBatch, least = 1): boolean {
  const all = batch.rounds.flatMap((noted) =>
    Array.from(noted, ([scope, begins]) => ({ scope, size: begins?.size ?? 0 })),
  );
  const { scope, size } = all.reduce((most, one) => (one.size > most.size ? one : most), { scope: '', size: 0 });
  if (size < least) return false;
  for (const noted of batch.rounds) {
    const begins = noted.get(scope);
    if (!begins) continue;
    batch.size -= begins.size;
    noted.set(scope, null);
  }
  return true;
}
