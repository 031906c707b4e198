import { compareNewest } from '../../sources/marker.js';
import { chunks } from '../../store/request/pacing.js';
import type { Contender, Ranking } from '../../store/source/winners.js';
import type { Contention, StreamRecord, WireImage } from '../change.js';
import { completed, decideWinners, NO_CONTENDER, ranked, recordOf } from '../consume/winners.js';
import type { LeasedWork, WinnersPort } from '../ports.js';

const KEYS_AT_A_TIME = 1_000;

/** The ranking with this item first, if no other is better. */
function preferring({ best, others }: Ranking, item: string | undefined): Ranking {
  const chosen = best.find((one) => one.item === item && compareNewest(one.order, best[0]?.order) === 0);
  return { best: chosen ? [chosen, ...best.filter((one) => one !== chosen)] : best, others };
}

/** The items of a source that contend for its markers, as a recount finds them. */
export class Contest {
  readonly #port: WinnersPort;
  readonly #checkOnly: boolean;
  readonly #rankings = new Map<string, Ranking>();
  /** The stored winners of keys with three or more items that a scan cannot order. */
  readonly #tied = new Map<string, string | undefined>();
  /** Keys with items of which a record is known. */
  readonly #begun = new Set<string>();

  /** With `checkOnly`, nothing is stored. */
  constructor(port: WinnersPort, checkOnly: boolean) {
    this.#port = checkOnly ? { ...port, write: (writes) => Promise.resolve(writes.map(() => true)) } : port;
    this.#checkOnly = checkOnly;
  }

  /** Adds a key, perhaps without contenders. */
  expect(key: string): void {
    this.#rankings.set(key, this.#rankings.get(key) ?? NO_CONTENDER);
  }

  /** Adds what a scan finds. Of several that it cannot order, the stored winner is among those that are kept. */
  async add(found: readonly (Contender & { readonly key: string })[]): Promise<void> {
    const cut = new Set<string>();
    for (const { key, ...one } of found) {
      this.put(key, one.item, one);
      const { best = [] } = this.#rankings.get(key) ?? {};
      const isKept = best.some(({ item }) => item === one.item);
      if (!isKept && compareNewest(one.order, best[0]?.order) === 0 && !this.#tied.has(key)) cut.add(key);
    }
    const stored = cut.size === 0 ? [] : await this.#port.read([...cut]);
    for (const [at, key] of [...cut].entries()) this.#tied.set(key, stored[at]?.ranking.best[0]?.item);
    for (const { key, ...one } of found) {
      if (this.#tied.get(key) !== one.item) continue;
      this.#rankings.set(key, ranked(this.#rankings.get(key) ?? NO_CONTENDER, one.item, one, true));
    }
  }

  /** Sets what an item is for a key; undefined if it does not contend. */
  put(key: string, item: string, now: Contender | undefined): void {
    this.#rankings.set(key, ranked(this.#rankings.get(key) ?? NO_CONTENDER, item, now));
  }

  /** Overrides what a scan finds of an item with what it was before the first of its records. */
  begin({ key, item, before }: Contention): void {
    const name = `${key}\n${item}`;
    if (!this.#begun.has(name)) this.put(key, item, before);
    this.#begun.add(name);
  }

  /**
   * Decides who wins, as of a batch, and yields the images of all markers; unless it is a check, the winners are stored,
   * and then forgotten. Of contenders that a scan cannot order, the stored winner remains it.
   */
  async *images(work: LeasedWork, batch: number): AsyncGenerator<WireImage[]> {
    for (const keys of chunks([...this.#rankings.keys()], KEYS_AT_A_TIME)) {
      const winners = await decideWinners(this.#port, work, batch, keys, (key, found) => ({
        sequence: found?.sequence ?? '0',
        ranking: preferring(this.#rankings.get(key) ?? NO_CONTENDER, found?.ranking.best[0]?.item),
      }));
      const images: string[] = [];
      for (const [key, { ranking }] of winners) {
        images.push(ranking.best[0]?.image ?? '');
        if (this.#checkOnly) this.#rankings.set(key, ranking);
        else this.#rankings.delete(key);
      }
      yield images.filter((image) => image !== '').map((image) => JSON.parse(image) as WireImage);
    }
  }

  /** The records of markers that follow from those of items, which are kept or only tried. */
  async records(contentions: readonly Contention[], kept: boolean): Promise<StreamRecord[]> {
    const before = new Map(contentions.map(({ key }) => [key, this.#rankings.get(key) ?? NO_CONTENDER]));
    for (const { key, item, after } of contentions) this.put(key, item, after);
    const records: StreamRecord[] = [];
    for (const [key, old] of before) {
      const ranking = await completed(this.#port, key, this.#rankings.get(key) ?? NO_CONTENDER);
      this.#rankings.set(key, kept ? ranking : old);
      const record = recordOf({ sequence: '0', before: old.best[0]?.image, ranking }, 0);
      if (record) records.push(record);
    }
    return records;
  }
}
