import type { LimitFunction } from 'p-limit';

import { GEOHASH_ALPHABET, toZ } from '../../geo/geohash.js';
import type { ZRange } from '../../geo/ranges.js';
import { compareBytes } from '../../keys/byte-order.js';
import { type Directory, type PageHint, overlaps } from '../../pages/directory.js';
import type { Database } from '../../store/database.js';
import { type DirectoryPart, readDirectory } from '../../store/page/page-directory.js';
import type { PagesOf, StoredPage } from '../../store/page/pages.js';
import type { Call } from '../../store/request/meter.js';
import type { Budget } from '../budget.js';
import { PagesGone } from './chain.js';
import type { DirectoryCache } from './directory-cache.js';

export interface DirectoryReaderOptions {
  readonly db: Database;
  readonly call: Call;
  readonly slots: LimitFunction;
  readonly directories: DirectoryCache;
  /** The first characters of the geohashes of a collection's markers. */
  readonly partitions: (scope: string) => Promise<readonly string[]>;
  /** The first page of a partition. */
  readonly firstPage: (partition: string) => Promise<StoredPage | undefined>;
}

/** Reads the directory of a collection's pages, as far as this process does not have it. */
export class DirectoryReader {
  readonly #options: DirectoryReaderOptions;
  readonly #of: PagesOf;

  constructor(options: DirectoryReaderOptions, of: PagesOf) {
    this.#options = options;
    this.#of = of;
  }

  /** The directory for the partitions that overlap sorted, disjoint ranges of Z-order at length 10. */
  async read(cover: readonly ZRange[], budget: Budget): Promise<Directory> {
    const { directories } = this.#options;
    const named = (partition: string) => ({ ...this.#of, partition });
    const wanted = Array.from(GEOHASH_ALPHABET).filter((partition) => overlaps(partition, cover));
    const known = wanted.filter((partition) => directories.has(named(partition)));
    const others = wanted.filter((partition) => !directories.has(named(partition)));
    const wereEmpty = others.some((partition) => directories.wasEmpty(named(partition)));
    const read = this.#readParts(wereEmpty ? await this.#existing(others) : others, budget);
    const entries = [...known, ...read.keys()].sort().map(async (partition) => {
      const pages = await directories.get(named(partition), () => this.#hints(partition, read.get(partition)));
      return [partition, pages] as const;
    });
    return new Map((await Promise.all(entries)).filter(([, { hints }]) => hints.length > 0));
  }

  /** The partitions with markers, according to the counts of cells. */
  async #existing(partitions: readonly string[]): Promise<string[]> {
    const exist = await this.#options.partitions(this.#of.scope);
    return partitions.filter((partition) => exist.includes(partition));
  }

  /** Reads parts of the directory: one Query per run of neighbouring partitions. */
  #readParts(partitions: readonly string[], budget: Budget): Map<string, Promise<readonly DirectoryPart[]>> {
    const { db, call, slots } = this.#options;
    return new Map(
      neighbours(partitions).flatMap((run) => {
        const [first = '', last = first] = [run[0], run.at(-1)];
        budget.debit({ calls: 1 });
        const parts = slots(() => readDirectory(db, this.#of, { first, last }, call));
        // Another request may have read all of these partitions meanwhile.
        parts.catch(() => undefined);
        return run.map((partition) => [partition, parts] as const);
      }),
    );
  }

  /** The hints of a partition; empty if it has no markers. */
  async #hints(
    partition: string,
    reading: Promise<readonly DirectoryPart[]> = Promise.resolve([]),
  ): Promise<readonly PageHint[]> {
    const parts = (await reading).filter(([first]) => first?.begin.startsWith(partition));
    if (parts[0]?.[0]?.begin === partition) return hintsOf(parts);
    if (parts.length === 0 && (await this.#existing([partition])).length === 0) return [];
    // Pages are written before their directory.
    const first = await this.#options.firstPage(partition);
    if (!first) throw new PagesGone();
    return [{ begin: partition, markers: first.entries.length, bytes: first.bytes }];
  }
}

/** Groups partitions, in order, into runs that are adjacent in a directory. */
function neighbours(partitions: readonly string[]): string[][] {
  const runs: string[][] = [];
  for (const partition of partitions) {
    const run = runs.at(-1);
    if (run && toZ(run.at(-1) ?? '') + 1 === toZ(partition)) run.push(partition);
    else runs.push([partition]);
  }
  return runs;
}

/** The hints of a directory. A part may be written late, by a process that does not know that another one begins within it. */
const hintsOf = (parts: readonly DirectoryPart[]): readonly PageHint[] =>
  parts.flatMap((part, index) => {
    const next = parts[index + 1]?.[0]?.begin;
    return next === undefined ? part : part.filter(({ begin }) => compareBytes(begin, next) < 0);
  });
