import type { PageSizes } from '../../src/capacity/page-model.js';
import { KEPT_DIRECTORIES } from '../../src/read/from-pages/directory-cache.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import type { Flows } from './flows.js';
import type { DerivedLine } from './lines.js';
import { missesOf, missesWithin, type Cached } from './lru.js';

/** Maps per second of one server at its peak, as measured with two cores (docs/benchmarks.md, admission). */
export const MAPS_A_SERVER = 60;
/** Share of the default cache of 64 MB, and sizes in bytes of its entries (src/loaders). */
const CACHE_BYTES = 24 * 2 ** 20;
const KEPT_BLOCK = 2_600;
const KEPT_PAGE = 300;
const KEPT_MARKER = 900;
/** How long servers without the consumer keep blocks. */
const OTHERS_KEEP_SECONDS = 2;

export interface Fleet {
  readonly servers: number;
  /**
   * Which servers cache cells and pages: none, the one with the consumer, or all, if all were notified of every change.
   */
  readonly caches: 'none' | 'consumer' | 'all';
}

/** Maps per second of the whole fleet, on average over the day. */
export const mapsOf = ({ servers }: Fleet, flows: Flows): number => (servers * MAPS_A_SERVER) / flows.peak;

/** The share of the requested objects that the fleet must read, by stretch of the derived table. */
export function fleetMisses(
  fleet: Fleet,
  flows: Flows,
  derived: DerivedLine,
  page: PageSizes,
  pageWrites: Float64Array,
): Float64Array {
  const { servers, caches } = fleet;
  const maps = mapsOf(fleet, flows) / servers;
  const asked = (at: number) => (flows.asked[at] ?? 0) * maps;
  const [pagesEnd = 0] = derived.blocksAt;
  const blocksEnd = derived.directoryAt;
  const misses = new Float64Array(flows.asked.length).fill(1);

  const pages = derived.areas.all.map(({ markers }, at): Cached => {
    const count = Math.max(1, markers / page.markers);
    const bytes = KEPT_PAGE + KEPT_MARKER * page.markers;
    return { count, bytes, asked: asked(at) / count, dropped: (pageWrites[at] ?? 0) / count };
  });
  const blocks = Array.from({ length: blocksEnd - pagesEnd }, (_, n): Cached => {
    return { count: 1, bytes: KEPT_BLOCK, asked: asked(pagesEnd + n), dropped: 0 };
  });
  const keptPages = missesOf(pages, CACHE_BYTES);
  const keptBlocks = missesOf(blocks, CACHE_BYTES);
  const keeping = caches === 'none' ? 0 : caches === 'all' ? 1 : 1 / servers;
  pages.forEach((_, at) => (misses[at] = 1 - keeping + keeping * (keptPages[at] ?? 1)));
  blocks.forEach((block, n) => {
    const others = caches === 'none' ? 1 : missesWithin(block.asked, OTHERS_KEEP_SECONDS);
    misses[pagesEnd + n] = keeping * (keptBlocks[n] ?? 1) + (1 - keeping) * others;
  });

  const { bytes: mostBytes, hintBytes } = KEPT_DIRECTORIES;
  const directories = derived.partsOf.map((count, area): Cached => {
    return { count, bytes: (1 + MOST_HINTS) * hintBytes, asked: asked(derived.directoryAt + area) / count, dropped: 0 };
  });
  missesOf(directories, mostBytes).forEach((missed, area) => (misses[derived.directoryAt + area] = missed));
  return misses;
}
