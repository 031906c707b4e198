import { AreaMemory, ChangeLog } from '../../src/loaders/area-memory.js';
import { ConsumerTrust } from '../../src/loaders/consumer-trust.js';
import type { OrderedMarker } from '../../src/pages/ordered-marker.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { OwnWrites } from '../../src/read/from-pages/own-writes.js';
import { PageCache } from '../../src/read/from-pages/page-cache.js';
import { RecentCache } from '../../src/read/from-pages/recent-cache.js';
import type { LoaderServices } from '../../src/read/loaders.js';
import { columnsOfPage, encodePage, type PageColumns } from '../../src/store/page/page-data.js';

/** The generation of pages made by tests. */
export const GENERATION = '1';

export interface TestPages {
  /** Whether pages are read; otherwise the geo index. */
  readonly trusted: boolean;
  /** 0, the default, for no cache. */
  readonly cacheBytes?: number;
  readonly directories?: DirectoryCache;
  /** Those that are read, by default `GENERATION`. */
  readonly generation?: string;
}

/** The columns of a page with these markers. */
export function columnsOf(entries: readonly OrderedMarker[]): PageColumns {
  const columns = columnsOfPage(encodePage(entries));
  if (!columns) throw new Error('a page that was just made has another format');
  return columns;
}

/** Clusters are formed each time. */
export const noClusters: LoaderServices['keptClusters'] = new AreaMemory({
  maxBytes: 0,
  bytesOf: () => 0,
  changes: new ChangeLog(() => 0),
  trusted: () => false,
});

/** State for reading pages made by a test, shared by all requests of a process. */
export function testPages({
  trusted,
  cacheBytes = 0,
  directories = new DirectoryCache(),
  generation = GENERATION,
}: TestPages): Pick<LoaderServices, 'pageServices' | 'trust' | 'sourceTrust'> {
  const now = () => performance.now();
  const report = { pages: { generation }, gap: null, complete: 1, endAt: 0, summariesSince: null };
  const trust = new ConsumerTrust({
    own: () => (trusted ? report : undefined),
    stored: () => Promise.resolve(undefined),
    wall: () => 0,
  });
  return {
    trust,
    sourceTrust: () => trust,
    pageServices: {
      directories,
      pageCache: new PageCache({ maxBytes: cacheBytes, trusted: () => trusted, now }),
      ownWrites: new OwnWrites(() => Date.now()),
      recent: new RecentCache(),
    },
  };
}
