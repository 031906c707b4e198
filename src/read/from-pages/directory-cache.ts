import { LRUCache } from 'lru-cache';

import { compareBytes } from '../../keys/byte-order.js';
import { remembered } from '../../loaders/remembered.js';
import { pagesOfParts, type DirectoryPart, type PageHint, type PartitionPages } from '../../pages/directory.js';
import { beginsUpTo, SortedCache } from '../../pages/sorted-cache.js';
import type { StoredPage } from '../../store/page/pages.js';

/** Identifies a partition of a collection's pages. */
export interface PagePartition {
  readonly scope: string;
  readonly generation: string;
  /** The first character of its geohashes. */
  readonly partition: string;
}

/** Limit of a server's cache of directories, and the approximate memory for each page besides its begin. */
export const KEPT_DIRECTORIES = { bytes: 32 * 1024 * 1024, hintBytes: 200 } as const;
const EMPTY_BYTES = 1024 * 1024;

const partitionKey = ({ scope, generation, partition }: PagePartition) => `${scope}\n${generation}\n${partition}`;

/**
 * The parts of directories that this process has read. They never expire: pages keep their begins, so an old directory hides
 * nothing, and splits found later are added.
 */
export class DirectoryCache {
  readonly #parts: SortedCache<DirectoryPart>;
  /** The pages last built from parts, by the first of these. */
  readonly #made = new WeakMap<
    DirectoryPart,
    { readonly parts: readonly DirectoryPart[]; readonly pages: PartitionPages }
  >();
  /** Partitions that had no pages when last read. */
  readonly #empty = new LRUCache<string, true>({
    maxSize: EMPTY_BYTES,
    sizeCalculation: (_, name) => 150 + 2 * name.length,
  });
  readonly #reading = new Map<string, Promise<unknown>>();

  constructor(maxBytes: number = KEPT_DIRECTORIES.bytes) {
    const { hintBytes } = KEPT_DIRECTORIES;
    this.#parts = new SortedCache(maxBytes, ({ hints }) =>
      hints.reduce<number>((bytes, { begin }) => bytes + hintBytes + 2 * begin.length, hintBytes),
    );
  }

  /** Whether any part of a partition's directory is cached. */
  has(of: PagePartition): boolean {
    return this.#parts.begins(partitionKey(of)).length > 0;
  }

  /** Whether an unknown partition had no pages when last read. It may have some now. */
  wasEmpty(of: PagePartition): boolean {
    return this.#empty.has(partitionKey(of));
  }

  noteEmpty(of: PagePartition): void {
    this.#empty.set(partitionKey(of), true);
  }

  put(of: PagePartition, part: DirectoryPart): void {
    this.#parts.put(partitionKey(of), part.begin, part);
  }

  /** The known part that a position belongs to. */
  find(of: PagePartition, position: string): DirectoryPart | undefined {
    const part = this.#parts.upTo(partitionKey(of), position);
    return part && compareBytes(position, part.end) < 0 ? part : undefined;
  }

  /** Where the next known part after a position begins. */
  next(of: PagePartition, position: string): string | undefined {
    const begins = this.#parts.begins(partitionKey(of));
    return begins[beginsUpTo(begins, position)];
  }

  /** All known parts of a partition, in order; none if there are more than `most`. */
  all(of: PagePartition, most: number): readonly DirectoryPart[] {
    const begins = this.#parts.begins(partitionKey(of));
    return begins.length > most ? [] : begins.flatMap((begin) => this.#parts.peek(partitionKey(of), begin) ?? []);
  }

  /** The pages of sorted parts of a partition. */
  pagesOf(partition: string, parts: readonly DirectoryPart[]): PartitionPages {
    const [first] = parts;
    const made = first && this.#made.get(first);
    if (made?.parts.length === parts.length && made.parts.every((part, index) => part === parts[index]))
      return made.pages;
    const pages = pagesOfParts(partition, parts);
    if (first) this.#made.set(first, { parts, pages });
    return pages;
  }

  /** Reads from the directory, shared by all concurrent requests for the same. */
  once<T>(name: string, read: () => Promise<T>): Promise<T> {
    return remembered(this.#reading, name, () => read().finally(() => this.#reading.delete(name))) as Promise<T>;
  }

  /** Adds pages that were read to the directory, if it lacks some of them. */
  learn(of: PagePartition, pages: readonly StoredPage[]): void {
    const fresh = new Map<DirectoryPart, PageHint[]>();
    for (const { begin, entries, bytes } of pages) {
      const part = this.find(of, begin);
      if (!part || part.hints.some((hint) => hint.begin === begin)) continue;
      fresh.set(part, [...(fresh.get(part) ?? []), { begin, markers: entries.length, bytes }]);
    }
    for (const [part, some] of fresh) {
      const hints = [...part.hints, ...some].sort((a, b) => compareBytes(a.begin, b.begin));
      this.put(of, { ...part, hints });
    }
  }

  /** Drops a collection's directories, because another generation has replaced its pages. */
  drop(scope: string): void {
    this.#parts.deleteGroups(`${scope}\n`);
  }

  clear(): void {
    this.#parts.clear();
    this.#empty.clear();
  }
}
