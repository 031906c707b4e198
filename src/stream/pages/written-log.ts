import type { Clock } from '../../clock.js';
import { completeBatch, type StreamState } from '../../store/cell/stream-state.js';
import { batchesOf, type PagesByScope, type WrittenBatch } from '../../store/page/written-pages.js';
import type { PagesPort } from '../ports.js';

/** Longest list: about 100 pages. The state is written each second, and costs a write unit for each kilobyte. */
const MOST_CHARACTERS = 1_000;
/** Servers in use read the state more often. Those that have not for longer forget all pages that they have cached. */
const LISTED_MS = 30_000;

type Noted = Map<string, Set<string> | null>;

interface NotedBatch {
  readonly batch: number;
  /** By the clock of this process. */
  readonly at: number;
  readonly rounds: readonly [first: Noted, second: Noted];
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
      return { batch: of, at, rounds: [notedOf(first), notedOf(second)] };
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
    let last = this.#batches.at(-1);
    if (last?.batch !== batch) {
      last = { batch, at: this.#clock.now(), rounds: [new Map(), new Map()] };
      this.#batches.push(last);
    }
    const noted = last.rounds[round % 2 === 0 ? 0 : 1];
    const begins = noted.get(scope);
    if (begins === undefined) noted.set(scope, new Set([begin]));
    else begins?.add(begin);
  }

  /** The state with the list of what was written. */
  stored(state: StreamState): StreamState {
    const before = this.#clock.now() - LISTED_MS;
    while ((this.#batches[0]?.at ?? Infinity) < before) this.#forgetFirst();
    let batches = this.#text();
    for (; batches.length > MOST_CHARACTERS; batches = this.#text()) {
      const [only, ...later] = this.#batches;
      if (later.length > 0 || !only || !shorten(only)) this.#forgetFirst();
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

/** Names no longer the pages of the scope that has most of them. Returns false if it names none. */
function shorten({ rounds }: NotedBatch): boolean {
  const all = rounds.flatMap((noted) =>
    Array.from(noted, ([scope, begins]) => ({ noted, scope, size: begins?.size ?? 0 })),
  );
  const most = all.toSorted((a, b) => b.size - a.size)[0];
  if (!most || most.size === 0) return false;
  for (const noted of rounds) if (noted.has(most.scope)) noted.set(most.scope, null);
  return true;
}
