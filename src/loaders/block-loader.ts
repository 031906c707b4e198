import DataLoader from 'dataloader';

import { fromZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { CellBlock } from '../model/cell.js';
import type { BlockPlan } from '../plan/blocks.js';
import { blockFromItem, getBlocks } from '../store/cell/cells.js';
import type { Database } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import type { RangeRead } from '../store/request/read-log.js';
import type { Budget } from './budget.js';
import type { CellCache } from './cell-cache.js';
import { groupBy } from './group.js';
import type { RangeLoader } from './range-loader.js';

/** The blocks of one collection that a plan names, and the budget that pays for them. */
export interface BlocksRequest {
  readonly scope: string;
  readonly plan: BlockPlan;
  readonly budget: Budget;
}

/** The blocks of a plan that have children. */
export interface BlocksLoader {
  /** Undefined where the budget does not pay for them. */
  load(request: BlocksRequest): Promise<CellBlock[] | undefined>;
  /** Without any call: undefined where one of them is not in the cache. */
  cached(scope: string, plan: BlockPlan): CellBlock[] | undefined;
}

/** Ranges of more blocks than this are read without a look into the cache, one block after the other. */
const MOST_LOOKED_UP = 8_192;

const isOccupied = ({ children }: CellBlock) => children.size > 0;
const parentsOf = ({ from, to }: ZRange, length: number) =>
  Array.from({ length: to - from }, (_, index) => fromZ(from + index, length));

/**
 * Reads the blocks of plans, from the cache where it knows them: of each range only what lies between the first and the
 * last block that is missing is read. Plans loaded in one tick resolve in one tick, so that what is planned
 * from them can be read together too.
 */
export function createBlocksLoader(
  { keys, cellCache, call }: { readonly keys: Keyspace; readonly cellCache: CellCache; readonly call: Call },
  range: RangeLoader,
): BlocksLoader {
  /** Counts neighbouring blocks that needed no call. */
  function hit(scope: string, blocks: readonly CellBlock[]) {
    call.meter.cacheHits += blocks.length;
    if (call.reads) noteHit(call.reads, keys, scope, blocks);
  }

  async function loadRange(scope: string, length: number, wanted: ZRange, budget: Budget) {
    const countable = wanted.to - wanted.from <= MOST_LOOKED_UP;
    const parents = countable ? parentsOf(wanted, length) : [];
    const cached = parents.map((parent) => cellCache.get(scope, parent));
    const first = cached.indexOf(undefined);
    const last = cached.lastIndexOf(undefined);
    if (countable && first < 0) {
      const blocks = cached.filter((block) => block !== undefined);
      hit(scope, blocks);
      return blocks;
    }
    const from = wanted.from + (countable ? first : 0);
    const to = countable ? wanted.from + last + 1 : wanted.to;
    const token = cellCache.begin();
    const { pk, ...bounds } = keys.cellRange(scope, fromZ(from, length), fromZ(to - 1, length));
    const answer = await range({ range: { index: 'cells', pk, ...bounds }, limit: Infinity, budget });
    if (!answer.complete) return undefined;
    const read = answer.items.map((item) => blockFromItem(keys, item)).filter((block) => block !== undefined);
    if (!countable) return read.map((block) => cellCache.put(scope, block, token));
    for (const side of [cached.slice(0, first), cached.slice(last + 1)]) {
      hit(
        scope,
        side.filter((block) => block !== undefined),
      );
    }
    const byParent = new Map(read.map((block) => [block.parent, block]));
    return parents.map((parent, index) => {
      const known = cached[index];
      if (known && (index < first || index > last)) return known;
      return cellCache.put(scope, byParent.get(parent) ?? emptyBlock(parent), token);
    });
  }

  const loader = new DataLoader<BlocksRequest, CellBlock[] | undefined>(
    (requests) =>
      Promise.all(
        requests.map(async ({ scope, plan, budget }) => {
          try {
            if (plan.ranges.length > budget.calls) return undefined;
            const reads = plan.ranges.map((range) => ({ range, share: budget.share(plan.ranges.length) }));
            const blocks = await Promise.all(
              reads.map(({ range: wanted, share }) => loadRange(scope, plan.length, wanted, share)),
            );
            return blocks.every((list) => list !== undefined) ? blocks.flat().filter(isOccupied) : undefined;
          } catch (error) {
            return error instanceof Error ? error : new Error('cells could not be read', { cause: error });
          }
        }),
      ),
    { cache: false },
  );
  return {
    load: (request) => loader.load(request),
    cached(scope, { length, ranges }) {
      const known: CellBlock[][] = [];
      let looked = 0;
      for (const { from, to } of ranges) {
        const blocks: CellBlock[] = [];
        for (let z = from; z < to; z++) {
          const block = looked++ < MOST_LOOKED_UP ? cellCache.get(scope, fromZ(z, length)) : undefined;
          if (!block) return undefined;
          blocks.push(block);
        }
        known.push(blocks);
      }
      for (const blocks of known) hit(scope, blocks);
      return known.flat().filter(isOccupied);
    },
  };
}

/** One block by its parent, those of one tick in one BatchGetItem. */
export function createBlockLoader(db: Database, cellCache: CellCache, call: Call) {
  const loader = new DataLoader<{ readonly scope: string; readonly parent: string }, CellBlock, string>(
    async (wanted) => {
      const token = cellCache.begin();
      const cached = wanted.map(({ scope, parent }) => cellCache.get(scope, parent));
      for (const [index, { scope }] of wanted.entries()) {
        const block = cached[index];
        if (!block) continue;
        call.meter.cacheHits++;
        if (call.reads) noteHit(call.reads, db.keys, scope, [block]);
      }
      const found = new Map<string, CellBlock>();
      const missing = groupBy(
        wanted.filter((_, index) => !cached[index]),
        ({ scope }) => scope,
      );
      for (const [scope, names] of missing) {
        const blocks = await getBlocks(
          db,
          scope,
          names.map(({ parent }) => parent),
          call,
        );
        for (const block of blocks) found.set(nameOf(scope, block.parent), cellCache.put(scope, block, token));
      }
      return wanted.map(
        ({ scope, parent }, index) => cached[index] ?? found.get(nameOf(scope, parent)) ?? emptyBlock(parent),
      );
    },
    { cacheKeyFn: ({ scope, parent }) => nameOf(scope, parent) },
  );
  return (scope: string, parent: string) => loader.load({ scope, parent });
}

/** Lists neighbouring blocks of one partition as a range that the cache answered. */
function noteHit(reads: RangeRead[], keys: Keyspace, scope: string, blocks: readonly CellBlock[]): void {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last) return;
  const range = keys.cellRange(scope, first.parent, last.parent);
  reads.push({ index: 'cells', ...range, items: blocks.filter(isOccupied).length, readUnits: 0, cached: true });
}

const nameOf = (scope: string, parent: string) => `${scope}\n${parent}`;
const emptyBlock = (parent: string): CellBlock => ({ parent, batch: 0, children: new Map() });
