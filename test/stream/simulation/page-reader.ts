import { LAG_MS, type FillToken } from '../../../src/loaders/followed-cache.js';
import { FollowedPages } from '../../../src/read/from-pages/followed-pages.js';
import { PageCache, pageName } from '../../../src/read/from-pages/page-cache.js';
import type { StoredPage } from '../../../src/store/page/pages.js';
import { reportOf } from '../../../src/stream/consume/consumer.js';
import type { DerivedModel } from './derived-model.js';
import { createChance, type World } from './world.js';

interface Version {
  readonly at: number;
  readonly page: StoredPage;
}

/** A read in progress. */
interface Read {
  readonly name: string;
  readonly token: FillToken;
  readonly page: StoredPage;
}

/**
 * A server that does not maintain the pages, and keeps those that it has read. Its reads take a while, and lag; it misses
 * reports.
 */
export class PageReader {
  readonly #world: World;
  readonly #derived: DerivedModel;
  readonly #chance;
  readonly #versions = new Map<string, Version[]>();
  readonly #cache: PageCache;
  readonly #followed: FollowedPages;
  #reading: readonly Read[] = [];

  constructor(world: World, derived: DerivedModel, seed: number) {
    this.#world = world;
    this.#derived = derived;
    // Of its own, so that what the others do does not depend on it.
    this.#chance = createChance(seed + 1);
    const now = () => world.now;
    this.#cache = new PageCache({ maxBytes: 1_000_000, now, trusted: () => this.#followed.areCurrent });
    this.#followed = new FollowedPages(this.#cache);
    derived.pages.onWritten = (scope, page) => {
      const name = `${scope}\n${page.begin}`;
      this.#versions.set(name, [...(this.#versions.get(name) ?? []), { at: world.now, page }]);
    };
  }

  /** The pages that it keeps although they lack a batch that is complete according to the last report. */
  look(): string[] {
    const chance = this.#chance;
    const { state } = this.#derived;
    if (state === undefined || chance.happens(0.3)) return [];
    this.#followed.take(reportOf(state));
    const { complete, pages } = reportOf(state);
    const nameOf = (name: string) => {
      const [scope = '', begin = ''] = name.split('\n');
      return pageName(scope, pages?.generation ?? '', begin);
    };
    const [done, going] = [this.#reading.filter(() => chance.happens(0.7)), [] as Read[]];
    for (const { name, page, token } of done) this.#cache.keep(nameOf(name), page, token, '');
    const wrong: string[] = [];
    for (const [name, versions] of this.#versions) {
      const kept = this.#cache.find(nameOf(name), '');
      const missing = versions.find(({ page: { round } }) => kept && round > kept.round && round <= 2 * complete + 1);
      if (missing) wrong.push(`page ${name} is used as of round ${kept?.round}, without round ${missing.page.round}`);
      if (kept || chance.happens(0.5)) continue;
      const before = this.#world.now - chance.next() * LAG_MS;
      const { page } = versions.findLast(({ at }) => at <= before) ?? {};
      if (page) going.push({ name, page, token: this.#cache.begin() });
    }
    this.#reading = [...this.#reading.filter((one) => !done.includes(one)), ...going];
    return wrong;
  }

  /** How many of the pages that were asked for it had. */
  get hits(): number {
    return this.#cache.figures().hits;
  }
}
