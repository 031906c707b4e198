import { compareBytes } from '../../keys/byte-order.js';
import { beginsUpTo } from '../../pages/sorted-cache.js';
import { mapConcurrently } from '../../store/request/pacing.js';
import type { PagesPort } from '../ports.js';
import { isIn, partitionOf, type KnownPage, type PageMemory } from './memory.js';

/** A position in the order of a collection. */
export interface CollectionPosition {
  readonly scope: string;
  readonly position: string;
}

interface Locating {
  readonly pages: PagesPort;
  readonly memory: PageMemory;
}

const PARTITIONS_AT_A_TIME = 8;
/** Number of pages to read after one that was found, because the next position may be in one of them. */
const FIRST_REACH = 4;
const LONGEST_REACH = 64;

const partitionKey = ({ scope, position }: CollectionPosition) => `${scope}\n${partitionOf(position)}`;

/**
 * Finds the pages of some positions; returns a function from a position to its page. Pages that are not remembered are
 * read in order, close ones together, with few requests.
 */
export async function locatePages(
  locating: Locating,
  places: readonly CollectionPosition[],
): Promise<(place: CollectionPosition) => KnownPage> {
  const partitions = new Map<string, CollectionPosition[]>();
  for (const place of places) {
    const inside = partitions.get(partitionKey(place)) ?? [];
    partitions.set(partitionKey(place), inside);
    inside.push(place);
  }
  const located = new Map<string, ReturnType<typeof finderIn>>();
  await mapConcurrently([...partitions], PARTITIONS_AT_A_TIME, async ([name, inside]) => {
    located.set(name, finderIn(await locateIn(locating, inside)));
  });
  return (place) => {
    const page = located.get(partitionKey(place))?.(place.position);
    if (page === undefined) throw new Error('pages have changed while they were located');
    return page;
  };
}

/** Finds a position in the pages of one partition. */
function finderIn(located: readonly KnownPage[]): (position: string) => KnownPage | undefined {
  const pages = located.toSorted((a, b) => compareBytes(a.begin, b.begin));
  const begins = pages.map(({ begin }) => begin);
  return (position) => {
    const page = pages[beginsUpTo(begins, position) - 1];
    return page && isIn(page, position) ? page : undefined;
  };
}

/** The pages of positions in one partition. */
async function locateIn({ pages, memory }: Locating, places: readonly CollectionPosition[]): Promise<KnownPage[]> {
  const located: KnownPage[] = [];
  const lastUpTo = (position: string) => located.findLast(({ begin }) => compareBytes(begin, position) <= 0);
  let reach = FIRST_REACH;
  for (const { scope, position } of places.toSorted((a, b) => compareBytes(a.position, b.position))) {
    const before = lastUpTo(position);
    if (before && isIn(before, position)) continue;
    const known = memory.find(scope, position);
    if (known) {
      located.push(known);
      continue;
    }
    if (before?.end !== undefined && reach > 0) {
      const next = await pages.from(scope, before.end, reach);
      for (const page of next) memory.put(scope, page);
      located.push(...next);
      const isReached = next.some((page) => isIn(page, position));
      reach = isReached ? Math.min(LONGEST_REACH, 2 * reach) : 0;
      if (isReached) continue;
    }
    const found = await pages.find(scope, position);
    // A partition without pages is a single page that is still to be written.
    if (!found) return [absentPage(position)];
    memory.put(scope, found);
    located.push(found);
    if (found.begin === before?.end) reach = FIRST_REACH;
  }
  return located;
}

/** The first page of a partition, before it is written. */
const absentPage = (position: string): KnownPage => ({
  begin: partitionOf(position),
  end: undefined,
  round: undefined,
  lost: undefined,
  markers: 0,
  data: undefined,
});
