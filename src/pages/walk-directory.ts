import { fromZ, intersect, LONGEST_Z, type ZRange } from '../geo/geohash.js';
import { isBefore } from '../keys/byte-order.js';
import { afterPartition, partitionRange, positionOf, type DirectoryPart } from './directory.js';

/** Stretches of a gap are read together if the distance between them is at most this many times the length of the first. */
const REACH = 16;

/** The known parts of a directory. */
export interface KnownParts {
  /** The part that a position belongs to. */
  find(partition: string, position: string): DirectoryPart | undefined;
  /** Where the next part after a position begins, or a position after the partition. */
  next(partition: string, position: string): string;
}

/** A stretch of a directory that is required but not known. */
export interface Missing {
  readonly partition: string;
  readonly from: string;
  readonly to: string;
  /** Where the next known part begins. */
  readonly gapEnd: string;
  /** Whether a part begins at `from`. */
  readonly isAdjacent: boolean;
}

export interface Walked {
  readonly missing: readonly Missing[];
  /** The position before which there are enough markers; undefined if the ranges ended earlier. */
  readonly upTo: string | undefined;
}

/** A position of a partition in Z-order at length 10. */
const zOf = (partition: string, position: string): number =>
  position === afterPartition(partition) ? partitionRange(partition).to : positionOf(position);

/** Counts the markers of the pages along sorted ranges, each page once. */
class MarkerCount {
  #part: DirectoryPart | undefined;
  #next = 0;

  /** The number of markers in the pages of a part that overlap a range and were not counted yet. */
  within(part: DirectoryPart, from: string, to: string): number {
    const { hints, end } = part;
    if (part !== this.#part) [this.#part, this.#next] = [part, 0];
    const beginOf = (index: number) => hints[index]?.begin ?? end;
    while (this.#next + 1 < hints.length && !isBefore(from, beginOf(this.#next + 1))) this.#next += 1;
    let markers = 0;
    for (; this.#next < hints.length && isBefore(beginOf(this.#next), to); this.#next++)
      markers += hints[this.#next]?.markers ?? 0;
    return markers;
  }
}

/** Adds a missing stretch, or joins it to the last one if they are close. */
function add(missing: Missing[], one: Missing): void {
  const last = missing.at(-1);
  const zIn = (position: string) => zOf(one.partition, position);
  const isNear =
    last?.partition === one.partition &&
    last.gapEnd === one.gapEnd &&
    zIn(one.from) - zIn(last.to) <= REACH * (zIn(last.to) - zIn(last.from) + 1);
  if (last && isNear) missing[missing.length - 1] = { ...last, to: one.to };
  else missing.push(one);
}

/**
 * Follows sorted, disjoint ranges of Z-order at length 10 through some partitions until the known parts of the directory list this
 * many markers, and returns the stretches that are missing up to there.
 */
export function walkDirectory(
  partitions: readonly string[],
  cover: readonly ZRange[],
  markers: number,
  known: KnownParts,
): Walked {
  const missing: Missing[] = [];
  let expected = 0;
  for (const partition of partitions) {
    const whole = partitionRange(partition);
    const counted = new MarkerCount();
    let [at, isAdjacent] = [partition, false];
    let passed = 0;
    for (const { from, to } of intersect(cover, [whole])) {
      // Most ranges end within the part found last, and positions take longer to compare.
      if (to <= passed) continue;
      const begin = fromZ(from, LONGEST_Z);
      if (isBefore(at, begin)) [at, isAdjacent] = [begin, false];
      const end = to === whole.to ? afterPartition(partition) : fromZ(to, LONGEST_Z);
      const orEnd = (position: string) => (isBefore(position, end) ? position : end);
      while (isBefore(at, end)) {
        // A page may begin within a geohash, where ranges do not.
        if (expected >= markers && at.length <= LONGEST_Z) return { missing, upTo: at };
        const part = known.find(partition, at);
        if (part) {
          expected += counted.within(part, at, orEnd(part.end));
          [at, isAdjacent] = [part.end, true];
          passed = zOf(partition, at);
        } else {
          const gapEnd = known.next(partition, at);
          add(missing, { partition, from: at, to: orEnd(gapEnd), gapEnd, isAdjacent });
          [at, isAdjacent] = [orEnd(gapEnd), true];
        }
      }
    }
  }
  return { missing, upTo: undefined };
}
