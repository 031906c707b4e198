import { DirectoryCache } from '../../src/loaders/pages/directory-cache.js';
import { OwnWrites } from '../../src/loaders/pages/own-writes.js';
import { PageCache } from '../../src/loaders/pages/page-cache.js';
import type { PageServices } from '../../src/loaders/pages/page-loader.js';

/** The generation that tests make. */
export const GENERATION = '1';

export interface TestPages {
  /** Whether pages are read; the geo index is otherwise. */
  readonly trusted: boolean;
  /** 0 for no cache, which is the default. */
  readonly cacheBytes?: number;
  readonly directories?: DirectoryCache;
}

/** What a process shares to read pages that a test has made. */
export function testPages({ trusted, cacheBytes = 0, directories = new DirectoryCache() }: TestPages): PageServices {
  const now = () => performance.now();
  const pages = { generation: GENERATION, complete: Number.MAX_SAFE_INTEGER, endAt: 0 };
  return {
    trust: {
      pages: () => Promise.resolve(trusted ? pages : undefined),
      forget: () => undefined,
    },
    directories,
    pageCache: new PageCache({ maxBytes: cacheBytes, trusted: () => trusted, now }),
    ownWrites: new OwnWrites(() => Date.now()),
  };
}
