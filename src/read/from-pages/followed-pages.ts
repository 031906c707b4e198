import type { ConsumerReport } from '../../loaders/consumer-trust.js';
import { batchesOf } from '../../store/page/written-pages.js';
import { pageName, type PageCache } from './page-cache.js';

type Cache = Pick<PageCache, 'changed' | 'forget'>;
type Report = Pick<ConsumerReport, 'pages' | 'complete' | 'written'>;

/**
 * Keeps cached pages current in a process that does not maintain them: each report of the process that does names those
 * that have been written, and what was cached of them before is dropped. So a cached page includes all batches that are
 * complete according to the last report, as one that is read now does.
 */
export class FollowedPages {
  readonly #cache: Cache;
  /** Those of a source are of one scope; undefined for the pages of all other collections. */
  readonly #scope: string | undefined;
  /** The last complete batch up to which cached pages are current; undefined if they are not used. */
  #known: number | undefined;

  constructor(cache: Cache, scope?: string) {
    this.#cache = cache;
    this.#scope = scope;
  }

  /** Whether cached pages are current according to the last report. */
  get areCurrent(): boolean {
    return this.#known !== undefined;
  }

  /** Takes a report before any page is read as it says. Returns it. */
  take<R extends Report | undefined>(report: R): R {
    const { pages = null, complete = 0, written } = report ?? {};
    if (pages === null || written?.to !== complete) {
      this.#known = undefined;
      return report;
    }
    const known = this.#known;
    this.#known = complete;
    if (known === complete) return report;
    if (known === undefined || known < written.since || known > complete) {
      this.#cache.forget(this.#scope);
      return report;
    }
    for (const [batch, ...rounds] of batchesOf(written)) {
      if (batch <= known || batch > complete) continue;
      rounds.forEach((scopes, index) => {
        for (const [scope, begins] of Object.entries(scopes)) {
          if (begins === null) this.#cache.forget(scope);
          else
            for (const begin of begins)
              this.#cache.changed(pageName(scope, pages.generation, begin), 2 * batch + index);
        }
      });
    }
    return report;
  }
}
