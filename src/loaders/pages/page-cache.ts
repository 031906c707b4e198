import type { PagesOf, StoredPage } from '../../store/page/pages.js';
import { FollowedCache, type FollowedCacheOptions } from '../followed-cache.js';

type PageCacheOptions = Pick<FollowedCacheOptions<StoredPage>, 'maxBytes' | 'trusted' | 'now'>;

const PAGE_BYTES = 300;
/** A marker takes about 600 bytes of objects beside its texts, which are held twice: as they are and as a feature. */
const MARKER_BYTES = 600;
/** Compressed data holds about a fifth of a marker's texts. */
const TEXT_SHARE = 10;

/** Names a page in the cache. */
export const pageName = ({ scope, generation }: Pick<PagesOf, 'scope' | 'generation'>, begin: string) =>
  `${scope}\n${generation}\n${begin}`;

/** Decoded pages by `pageName`, shared by all requests of the process that keeps the pages. One that is written is dropped. */
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
