import { GEOHASH_ALPHABET, toZ, type ZRange } from '../../geo/geohash.js';
import { compareBytes, isBefore } from '../../keys/byte-order.js';
import type { Budget } from '../../loaders/budget.js';
import {
  afterPartition,
  overlaps,
  type Directory,
  type DirectoryPart,
  type PartitionPages,
} from '../../pages/directory.js';
import { walkDirectory, type KnownParts, type Missing } from '../../pages/walk-directory.js';
import type { DirectoryParts, PagesOf, StoredPage } from '../../store/page/pages.js';
import { earliest, PagesGone } from './chain.js';
import type { DirectoryCache } from './directory-cache.js';

/** Reads parts of a directory from the table, and what else may be missing in it. */
export interface DirectorySource {
  /** The part that a position belongs to; undefined if none of its partition begins before. */
  at(position: string): Promise<DirectoryPart | undefined>;
  /** The first parts that begin from one position to another, both included. */
  between(from: string, to: string, limit: number): Promise<DirectoryParts>;
  /** The page that a partition begins with. */
  firstPage(partition: string): Promise<StoredPage | undefined>;
  /** The partitions with markers, according to the counts of cells. */
  partitions(): Promise<readonly string[]>;
}

/** The required parts of a directory. */
export interface KnownDirectory {
  readonly directory: Directory;
  /**
   * Where it ends if it does not cover the requested ranges: there are enough markers before, or the budget is spent.
   */
  readonly upTo: string | undefined;
}

/** A partition with at most this many parts is read by one Query, and cached whole. */
const WHOLE_PARTS = 8;
/** Parts that one Query reads after a known one; each further Query reads twice as many. */
const NEXT_PARTS = 4;
/** Maximum number of Query calls at a time. */
const AT_A_TIME = 8;

/** Reads the parts of the directory of a collection's pages that a request requires and this process does not have. */
export class DirectoryReader implements KnownParts {
  readonly #of: PagesOf;
  readonly #source: DirectorySource;
  readonly #directories: DirectoryCache;
  /** The parts that this request uses, in order, by partition. Partitions without pages have no list. */
  readonly #held = new Map<string, readonly DirectoryPart[]>();
  /** Partitions that this request has asked for and that had no pages then. */
  readonly others = new Set<string>();

  constructor(of: PagesOf, source: DirectorySource, directories: DirectoryCache) {
    this.#of = of;
    this.#source = source;
    this.#directories = directories;
  }

  /**
   * The directory for sorted, disjoint ranges of Z-order at length 10, in all partitions that they overlap: the first parts that
   * together list `markers` markers in the ranges. Spends at most half of the budget's calls.
   */
  async read(cover: readonly ZRange[], markers: number, budget: Budget): Promise<KnownDirectory> {
    const wanted = Array.from(GEOHASH_ALPHABET).filter((partition) => overlaps(partition, cover));
    const keptCalls = budget.calls / 2;
    await this.#begin(wanted, budget);
    const begun = wanted.filter((partition) => this.#held.has(partition));
    for (const partition of wanted) if (!this.#held.has(partition)) this.others.add(partition);
    for (let limit = NEXT_PARTS; ; limit *= 2) {
      const { missing, upTo } = walkDirectory(begun, cover, markers, this);
      const calls = Math.min(AT_A_TIME, budget.calls - keptCalls);
      if (missing.length === 0 || calls < 1) {
        const directory = new Map(begun.map((partition) => [partition, this.#pagesOf(partition)]));
        return { directory, upTo: missing[0]?.from ?? upTo };
      }
      await Promise.all(missing.slice(0, calls).map((one) => this.#fill(one, limit, budget)));
    }
  }

  #named(partition: string) {
    return { ...this.#of, partition };
  }

  #hold(part: DirectoryPart): void {
    const partition = part.begin.charAt(0);
    const others = (this.#held.get(partition) ?? []).filter(({ begin }) => begin !== part.begin);
    const all = [...others, part].sort((a, b) => compareBytes(a.begin, b.begin));
    this.#held.set(partition, all);
  }

  #add(part: DirectoryPart): void {
    this.#directories.put(this.#named(part.begin.charAt(0)), part);
    this.#hold(part);
  }

  find(partition: string, position: string): DirectoryPart | undefined {
    const held = this.#held.get(partition)?.findLast(({ begin }) => !isBefore(position, begin));
    if (held && isBefore(position, held.end)) return held;
    const part = this.#directories.find(this.#named(partition), position);
    if (part) this.#hold(part);
    return part;
  }

  next(partition: string, position: string): string {
    const held = this.#held.get(partition)?.find(({ begin }) => isBefore(position, begin))?.begin;
    const kept = this.#directories.next(this.#named(partition), position);
    return earliest([held, kept]) ?? afterPartition(partition);
  }

  /** The pages of a partition that this request requires, or all known ones if they are few. */
  #pagesOf(partition: string): PartitionPages {
    const held = this.#held.get(partition) ?? [];
    const all = this.#directories.all(this.#named(partition), WHOLE_PARTS);
    return this.#directories.pagesOf(partition, held.every((part) => all.includes(part)) ? all : held);
  }

  /** Reads the first parts of unknown partitions: those of neighbors by one Query, if they are short. */
  async #begin(wanted: readonly string[], budget: Budget): Promise<void> {
    for (const partition of wanted) {
      const isKept = !this.#held.has(partition) && this.#directories.has(this.#named(partition));
      if (isKept) this.#held.set(partition, []);
    }
    const others = wanted.filter((partition) => !this.#held.has(partition));
    const wereEmpty = others.some((partition) => this.#directories.wasEmpty(this.#named(partition)));
    const exist = wereEmpty ? await this.#source.partitions() : others;
    const unknown = others.filter((partition) => exist.includes(partition));
    await Promise.all(neighbors(unknown).map((run) => this.#beginRun(run, budget)));
  }

  async #beginRun(run: readonly string[], budget: Budget): Promise<void> {
    for (let left = run; left.length > 0;) {
      const [first = '', last = first] = [left[0], left.at(-1)];
      const { parts, isWhole } = await this.#between(first, afterPartition(last), WHOLE_PARTS * left.length, budget);
      const reached = isWhole ? last : (parts.at(-1)?.begin.charAt(0) ?? last);
      const read = left.filter((partition) => partition <= reached);
      left = left.filter((partition) => partition > reached);
      const partsOf = (partition: string) => parts.filter(({ begin }) => begin.startsWith(partition));
      await Promise.all(read.map((partition) => this.#beginPartition(partition, partsOf(partition))));
    }
  }

  /** Adds the first parts of a partition, with its beginning; none if it has no markers. */
  async #beginPartition(partition: string, parts: readonly DirectoryPart[]): Promise<void> {
    const [next] = parts;
    if (!next && !(await this.#source.partitions()).includes(partition)) {
      return this.#directories.noteEmpty(this.#named(partition));
    }
    if (next?.begin !== partition) {
      this.#add(await this.#firstPart(partition, next?.begin ?? afterPartition(partition)));
    }
    for (const part of parts) this.#add(part);
  }

  /** The first page of a partition as a part, for a directory without a beginning: pages are written before it. */
  async #firstPart(partition: string, end: string): Promise<DirectoryPart> {
    const first = await this.#source.firstPage(partition);
    if (!first) throw new PagesGone();
    return { begin: partition, hints: [{ begin: partition, markers: first.entries.length, bytes: first.bytes }], end };
  }

  /** Reads at least the first part of a missing stretch. */
  async #fill({ partition, from, to, gapEnd, isAdjacent }: Missing, limit: number, budget: Budget): Promise<void> {
    if (isAdjacent) {
      const { parts } = await this.#between(from, to, limit, budget);
      for (const part of parts) this.#add(part);
      if (parts[0]?.begin === from) return;
    }
    budget.debit({ calls: 1 });
    const found = await this.#once(`at ${from}`, () => this.#source.at(from));
    const part = found ?? (await this.#firstPart(partition, gapEnd));
    // An eventually consistent read may miss the part that follows.
    if (!isBefore(from, part.end)) throw new PagesGone();
    this.#add(part);
  }

  #between(from: string, to: string, limit: number, budget: Budget): Promise<DirectoryParts> {
    budget.debit({ calls: 1 });
    return this.#once(`${from} ${to} ${limit}`, () => this.#source.between(from, to, limit));
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const { scope, generation } = this.#of;
    return this.#directories.once(`${scope}\n${generation}\n${name}`, read);
  }
}

/** Groups partitions, in order, into runs that are adjacent in a directory. */
function neighbors(partitions: readonly string[]): string[][] {
  const runs: string[][] = [];
  for (const partition of partitions) {
    const run = runs.at(-1);
    if (run && toZ(run.at(-1) ?? '') + 1 === toZ(partition)) run.push(partition);
    else runs.push([partition]);
  }
  return runs;
}
