import { LRUCache } from 'lru-cache';

import { type PageHint, PartitionPages } from '../../pages/directory.js';
import { compareBytes } from '../../keys/byte-order.js';
import type { StoredPage } from '../../store/page/pages.js';

/** Identifies a partition of a collection's pages. */
export interface PagePartition {
  readonly scope: string;
  readonly generation: string;
  /** The first character of its geohashes. */
  readonly partition: string;
}

const MOST_BYTES = 32 * 1024 * 1024;
const HINT_BYTES = 150;
const MOST_EMPTY = 10_000;

const nameOf = ({ scope, generation, partition }: PagePartition) => `${scope}\n${generation}\n${partition}`;

/**
 * Directories read by this process, by partition. They never expire: pages keep their begins, so an old directory hides
 * nothing, and splits found later are added.
 */
export class DirectoryCache {
  readonly #partitions = new LRUCache<string, Promise<PartitionPages>>({
    maxSize: MOST_BYTES,
    sizeCalculation: () => HINT_BYTES,
  });

  /** Partitions that had no pages when last read. */
  readonly #empty = new LRUCache<string, true>({ max: MOST_EMPTY });

  has(of: PagePartition): boolean {
    return this.#partitions.has(nameOf(of));
  }

  /** Whether an unknown partition had no pages when last read. It may have some now. */
  wasEmpty(of: PagePartition): boolean {
    return this.#empty.has(nameOf(of));
  }

  /** The pages of a partition, read by `read` if they are not known; an empty result is not kept. */
  get(of: PagePartition, read: () => Promise<readonly PageHint[]>): Promise<PartitionPages> {
    const name = nameOf(of);
    const known = this.#partitions.get(name);
    if (known) return known;
    const reading = read().then((hints) => {
      const pages = new PartitionPages(hints);
      if (hints.length === 0) this.#empty.set(name, true);
      if (this.#partitions.peek(name) !== reading) return pages;
      // Its size is only known now.
      if (hints.length > 0) this.#put(name, pages, reading);
      else this.#partitions.delete(name);
      return pages;
    });
    reading.catch(() => this.#partitions.delete(name));
    this.#partitions.set(name, reading);
    return reading;
  }

  /** Adds pages that were read to the directory, if it lacks some of them. */
  learn(of: PagePartition, known: PartitionPages, pages: readonly StoredPage[]): void {
    const begins = new Set(known.hints.map(({ begin }) => begin));
    if (pages.every(({ begin }) => begins.has(begin))) return;
    const fresh = new Map(known.hints.map((hint) => [hint.begin, hint]));
    for (const { begin, entries, bytes } of pages) fresh.set(begin, { begin, markers: entries.length, bytes });
    const hints = [...fresh.values()].sort((a, b) => compareBytes(a.begin, b.begin));
    const learned = new PartitionPages(hints);
    this.#put(nameOf(of), learned, Promise.resolve(learned));
  }

  /** Drops a collection's directories, because another generation has replaced its pages. */
  drop(scope: string): void {
    for (const name of this.#partitions.keys()) if (name.startsWith(`${scope}\n`)) this.#partitions.delete(name);
  }

  clear(): void {
    this.#partitions.clear();
    this.#empty.clear();
  }

  #put(name: string, { hints }: PartitionPages, pages: Promise<PartitionPages>): void {
    this.#partitions.set(name, pages, { size: HINT_BYTES * (1 + hints.length) });
  }
}
