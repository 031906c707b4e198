import { FollowedCache } from '../../loaders/followed-cache.js';
import { bytesOfMarker } from '../../model/memory.js';
import type { StoredPage } from '../../store/page/pages.js';

const PAGE_BYTES = 500;

/** Identifies a page in the cache. */
export const pageName = (scope: string, generation: string, begin: string) => `${scope}\n${generation}\n${begin}`;

/**
 * Decoded pages by `pageName`, shared by all requests of the process that maintains the pages. A page is dropped when
 * it is written.
 */
export class PageCache extends FollowedCache<StoredPage> {
  protected override readonly untrustedMs = 0;

  protected override bytesOf({ entries }: StoredPage): number {
    return entries.reduce((bytes, { marker }) => bytes + bytesOfMarker(marker), PAGE_BYTES);
  }

  protected override versionOf({ round }: StoredPage): number {
    return round;
  }
}
