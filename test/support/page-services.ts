import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { OwnWrites } from '../../src/read/from-pages/own-writes.js';
import { PageCache } from '../../src/read/from-pages/page-cache.js';
import type { PageServices } from '../../src/read/from-pages/page-loader.js';

/** The generation of pages made by tests. */
export const GENERATION = '1';

export interface TestPages {
  /** Whether pages are read; otherwise the geo index. */
  readonly trusted: boolean;
  /** 0, the default, for no cache. */
  readonly cacheBytes?: number;
  readonly directories?: DirectoryCache;
}

/** State for reading pages made by a test, shared by all requests of a process. */
export function testPages({ trusted, cacheBytes = 0, directories = new DirectoryCache() }: TestPages): PageServices {
  const now = () => performance.now();
  const pages = { generation: GENERATION, complete: Number.MAX_SAFE_INTEGER, endAt: 0 };
  return {
    trust: {
      pages: () => Promise.resolve(trusted ? pages : undefined),
      summaries: () => Promise.resolve(undefined),
      forget: () => undefined,
    },
    directories,
    pageCache: new PageCache({ maxBytes: cacheBytes, trusted: () => trusted, now }),
    ownWrites: new OwnWrites(() => Date.now()),
  };
}
