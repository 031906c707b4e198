import { LRUCache } from 'lru-cache';

interface Known {
  count: number;
  /** By how much it has lately changed, about a second in each entry; oldest first. */
  recent: { readonly at: number; by: number }[];
}

/** What was written may take this long until it is counted: counts are cached, streams lag, and clocks differ. */
const COUNTED_AFTER_MS = 5_000;
/** So long may it take to write what is about to be. */
const WRITTEN_AFTER_MS = 10_000;
const LONGEST_MS = 600_000;
const SECOND_MS = 1_000;
const MOST_KNOWN = 2_000;

/**
 * The numbers of markers of collections, and their sizes, for quotas. Stored ones lack an unknown part of what was written
 * lately: within these bounds, this process counts its own writes.
 */
export class MarkerCounts {
  readonly #wall: () => number;
  /** By what is counted. */
  readonly #known = new LRUCache<string, Known>({ max: MOST_KNOWN });

  /** `wall`: milliseconds since 1970. */
  constructor(wall: () => number) {
    this.#wall = wall;
  }

  /** The number, from a stored one that has everything written until `asOf`, in milliseconds since 1970. */
  of(name: string, stored: number, asOf: number): number {
    const known = this.#known.get(name) ?? { count: stored, recent: [] };
    this.#known.set(name, known);
    const now = this.#wall();
    const countedAt = ({ at, by }: Known['recent'][number]) => at + COUNTED_AFTER_MS + (by > 0 ? WRITTEN_AFTER_MS : 0);
    known.recent = known.recent.filter((one) => countedAt(one) > asOf && now - one.at < LONGEST_MS);
    const least = known.recent.reduce((sum, { by }) => sum + Math.min(0, by), stored);
    const most = known.recent.reduce((sum, { by }) => sum + Math.max(0, by), stored);
    known.count = Math.min(most, Math.max(least, known.count));
    return known.count;
  }

  /**
   * The number with `wanted` more, which are noted if it is at most `most`; the rest as above. One step, so that
   * no others are admitted in between.
   */
  admit(name: string, stored: number, asOf: number, wanted: number, most: number): number {
    const count = this.of(name, stored, asOf) + wanted;
    if (count <= most) this.changed(name, wanted);
    return count;
  }

  /** Notes what was or is about to be written. */
  changed(name: string, by: number): void {
    const known = this.#known.get(name);
    if (!known || by === 0) return;
    known.count += by;
    const at = this.#wall();
    const last = known.recent.at(-1);
    if (last && at - last.at < SECOND_MS && by > 0 === last.by > 0) last.by += by;
    else known.recent.push({ at, by });
  }
}
