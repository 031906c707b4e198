import { fromZ, GEOHASH_ALPHABET, intersect, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import { joinedRuns, PartitionPages, partitionRange, type Directory, type PageHint } from '../pages/directory.js';
import type { Distribution } from './distribution.js';

/** The properties of a collection's pages that a plan depends on. */
export interface PageSizes {
  /** Number of markers per page. */
  readonly markers: number;
  /** Size of a page's item in bytes. */
  readonly bytes: number;
}

/**
 * Models the directory that a server would have for these markers, assuming that all pages are equally full. Pages
 * between those that a cover needs are joined into one hint with their total size, so the number of hints does not grow
 * with the number of markers.
 */
export function modelDirectory(distribution: Distribution, cover: readonly ZRange[], page: PageSizes): Directory {
  const directory = new Map<string, PartitionPages>();
  for (const partition of GEOHASH_ALPHABET) {
    const range = partitionRange(partition);
    const ranges = intersect(cover, [range]);
    const before = distribution.before(range.from);
    const markers = distribution.within(range);
    if (ranges.length === 0 || markers <= 0) continue;
    const pages = Math.max(1, Math.ceil(markers / page.markers));
    const firstOf = (number: number) => distribution.positionAt(before + number * page.markers);
    const pageAt = (z: number) => {
      let number = Math.min(pages - 1, Math.max(0, Math.floor((distribution.before(z + 1) - before) / page.markers)));
      // Between the last marker of a page and the first of the next.
      while (number > 0 && firstOf(number) > z) number -= 1;
      return number;
    };
    const beginOf = (number: number) => (number === 0 ? partition : fromZ(firstOf(number), LONGEST_Z));
    const hints: PageHint[] = [];
    const add = (from: number, to: number) => {
      if (from >= to) return;
      const [begin, last] = [beginOf(from), hints.at(-1)];
      const hint = { begin, markers: (to - from) * page.markers, bytes: (to - from) * page.bytes };
      // More markers at one position than a page holds: several pages begin with the same geohash.
      if (last?.begin === begin) {
        hints[hints.length - 1] = { begin, markers: last.markers + hint.markers, bytes: last.bytes + hint.bytes };
      } else hints.push(hint);
    };
    let next = 0;
    const runs = ranges.map(({ from, to }) => ({ first: pageAt(from), last: pageAt(to - 1) }));
    for (const { first, last } of joinedRuns(runs)) {
      add(next, first);
      for (let number = first; number <= last; number++) add(number, number + 1);
      next = last + 1;
    }
    add(next, pages);
    directory.set(partition, new PartitionPages(hints));
  }
  return directory;
}
