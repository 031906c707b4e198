import type { PagesOf, StoredPage } from '../../store/page/pages.js';
import { FollowedCache, type FollowedCacheOptions } from '../followed-cache.js';

type PageCacheOptions = Pick<FollowedCacheOptions<StoredPage>, 'maxBytes' | 'trusted' | 'now'>;

const PAGE_BYTES = 300;
/**
 * A marker takes about 600 bytes for objects, besides its texts, which are stored twice: as properties and as a
 * feature.
 */
const MARKER_BYTES = 600;
/** Compressed data has about a fifth of the size of a marker's texts. */
const TEXT_SHARE = 10;

/** Identifies a page in the cache. */
export const pageName = ({ scope, generation }: Pick<PagesOf, 'scope' | 'generation'>, begin: string) =>
  `${scope}\n${generation}\n${begin}`;

/**
 * Decoded pages by `pageName`, shared by all requests of the process that maintains the pages. A page is dropped when
 * it is written.
 */
export class PageCache extends FollowedCache<StoredPage> {
  constructor(options: PageCacheOptions) {
    super({
      ...options,
      untrustedMs: 0,
      versionOf: ({ round }) => round,
      bytesOf: ({ entries, bytes }) => PAGE_BYTES + MARKER_BYTES * entries.length + TEXT_SHARE * bytes,
    });
  }
}
