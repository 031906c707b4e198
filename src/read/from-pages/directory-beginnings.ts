import { toZ } from '../../geo/geohash.js';
import { type DirectoryPart, afterPartition } from '../../pages/directory.js';
import type { DirectoryParts } from '../../store/page/page-directory.js';
import type { StoredPage } from '../../store/page/pages.js';
import { PagesGone } from './chain.js';

/** Reads parts of a directory from the table, and what else may be missing in it. */
export interface DirectorySource {
  /** The part that a position belongs to; undefined if none of its partition begins before. */
  at(position: string): Promise<DirectoryPart | undefined>;
  /** The first parts that begin from one position to another, both included. */
  between: ReadParts;
  /** The page that a partition begins with. */
  firstPage(partition: string): Promise<StoredPage | undefined>;
  /** The partitions with markers, according to the counts of cells. */
  partitions(): Promise<readonly string[]>;
}

type ReadParts = (from: string, to: string, limit: number) => Promise<DirectoryParts>;

/** A partition with at most this many parts is read by one Query, and cached whole. */
export const WHOLE_PARTS = 8;

/**
 * Reads the first parts of partitions' directories, with one Query for neighbors if they are short; none if there are no
 * pages. `between` reads like that of the source.
 */
export async function readBeginnings(
  source: DirectorySource,
  between: ReadParts,
  partitions: readonly string[],
): Promise<Map<string, readonly DirectoryPart[]>> {
  const found = await Promise.all(neighbors(partitions).map((run) => readRun(source, between, run)));
  return new Map(found.flat());
}

async function readRun(source: DirectorySource, between: ReadParts, run: readonly string[]) {
  const found: (readonly [partition: string, parts: readonly DirectoryPart[]])[] = [];
  for (let left = run; left.length > 0;) {
    const [first = '', last = first] = [left[0], left.at(-1)];
    const { parts, isWhole } = await between(first, afterPartition(last), WHOLE_PARTS * left.length);
    const reached = isWhole ? last : (parts.at(-1)?.begin.charAt(0) ?? last);
    const read = left
      .filter((partition) => partition <= reached)
      .map(async (partition) => {
        const inside = parts.filter(({ begin }) => begin.startsWith(partition));
        return [partition, await withFirst(source, partition, inside)] as const;
      });
    found.push(...(await Promise.all(read)));
    left = left.filter((partition) => partition > reached);
  }
  return found;
}

/** The parts of a partition with its beginning; none if it has no markers. */
async function withFirst(
  source: DirectorySource,
  partition: string,
  parts: readonly DirectoryPart[],
): Promise<readonly DirectoryPart[]> {
  if (parts[0]?.begin === partition) return parts;
  if (parts.length === 0 && !(await source.partitions()).includes(partition)) return [];
  return [await firstPart(source, partition, parts[0]?.begin ?? afterPartition(partition)), ...parts];
}

/** The first page of a partition as a part, for a directory without a beginning: pages are written before it. */
export async function firstPart(source: DirectorySource, partition: string, end: string): Promise<DirectoryPart> {
  const first = await source.firstPage(partition);
  if (!first) throw new PagesGone();
  return { begin: partition, hints: [{ begin: partition, markers: first.entries.length, bytes: first.bytes }], end };
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
