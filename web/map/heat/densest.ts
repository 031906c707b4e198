import { CHILDREN, COARSE_CELLS } from '../api/documents.js';
import { request } from '../api/graphql.js';
import { levelOf } from './kernel.js';

interface Counted {
  readonly geohash: string;
  readonly count: number;
  readonly center: { readonly lat: number };
}

/** Geohash length at which the search begins: at most 1,024 cells. */
const FIRST = 2;
/** Geohash length of the finest stored cells. */
const LONGEST = 5;
/** Number of cells per length whose children are read. */
const BEAM = 3;

const level = ({ count, center }: Counted) => levelOf(count, center.lat);
const most = (cells: readonly Counted[]) => cells.reduce((greatest, cell) => Math.max(greatest, level(cell)), 0);

async function childrenOf(key: string, parents: readonly Counted[]): Promise<readonly Counted[]> {
  // Always three, so that the server compiles one document.
  const [a, b = a, c = a] = parents.map(({ geohash }) => geohash);
  if (a === undefined) return [];
  const found = await request<Record<string, { readonly children: readonly Counted[] }>>(CHILDREN, { key, a, b, c });
  return Object.values(found).flatMap(({ children }) => children);
}

/**
 * Returns a function for the number of markers around the position where a collection is densest, by geohash length.
 * The number is approximate, because only a few of the densest cells of each length are refined. Each length is read
 * once.
 */
export function createDensest(key: string): (length: number) => Promise<number> {
  const byLength: Promise<readonly Counted[]>[] = [];

  function cellsOf(length: number): Promise<readonly Counted[]> {
    byLength[length] ??= (async () => {
      if (length === FIRST) {
        const { viewport } = await request<{ readonly viewport: { readonly cells: Counted[] } }>(COARSE_CELLS, { key });
        return viewport.cells;
      }
      const parents = (await cellsOf(length - 1)).toSorted((one, other) => level(other) - level(one));
      return childrenOf(key, parents.slice(0, BEAM));
    })();
    return byLength[length];
  }

  return async (length) => {
    if (length < FIRST) {
      const sums = new Map<string, number>();
      for (const cell of await cellsOf(FIRST)) {
        const parent = cell.geohash.slice(0, length);
        sums.set(parent, (sums.get(parent) ?? 0) + level(cell));
      }
      return Math.max(0, ...sums.values());
    }
    const densest = most(await cellsOf(Math.min(length, LONGEST)));
    if (length <= LONGEST) return densest;
    // Longer cells would have to be computed from markers; they are assumed to thin out at the same rate.
    const rate = most(await cellsOf(LONGEST - 1)) / densest;
    return densest / rate ** (length - LONGEST);
  };
}
