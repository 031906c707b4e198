import DataLoader from 'dataloader';

import { fromZ } from '../geo/geohash.js';
import type { ZRange } from '../geo/ranges.js';
import type { CellBlock } from '../model/cell.js';
import type { BlockPlan } from '../plan/blocks.js';
import { type BlockName, getBlocks } from '../store/cell/blocks.js';
import { blockFromItem } from '../store/cell/cells.js';
import type { Database, Item } from '../store/database.js';
import type { Call } from '../store/request/meter.js';
import type { Budget } from './budget.js';
import { type CellCache, blockName } from './cell-cache.js';
import { groupBy } from './group.js';
import type { RangeLoader } from './range-loader.js';
import { type Turn, afterTurns, eachInTurns, takeTurn } from '../turns.js';

/** The blocks of a plan in one collection, and the budget for reading them. */
export interface BlocksRequest {
  readonly scope: string;
  readonly plan: BlockPlan;
  readonly budget: Budget;
}

/** Ranges with more blocks than this are read without checking the cache for each block. */
const MOST_LOOKED_UP = 8_192;

const isOccupied = ({ children }: CellBlock) => children.size > 0;
const emptyBlock = (parent: string): CellBlock => ({ parent, batch: 0, children: new Map() });
const nameOf = ({ scope, parent }: BlockName) => blockName(scope, parent);

/** Reads cell blocks for one request, from the cache if possible. */
export class BlockLoader {
  readonly #db: Database;
  readonly #cache: CellCache;
  readonly #call: Call;
  readonly #range: RangeLoader;
  readonly #turn: Turn = () => takeTurn(this.#call.signal);
  readonly #decoded = new WeakMap<Item, CellBlock>();
  readonly #single = new DataLoader<BlockName, CellBlock, string>((names) => this.#loadEach(names), {
    cacheKeyFn: nameOf,
    batchScheduleFn: afterTurns,
  });

  constructor(db: Database, cache: CellCache, call: Call, range: RangeLoader) {
    this.#db = db;
    this.#cache = cache;
    this.#call = call;
    this.#range = range;
  }

  /**
   * The non-empty blocks of a plan; undefined if the budget does not cover them. Of each range, only the part from the
   * first to the last missing block is read.
   */
  async load({ scope, plan: { length, ranges }, budget }: BlocksRequest): Promise<CellBlock[] | undefined> {
    await this.#turn();
    if (ranges.length > budget.calls) return undefined;
    const reads = ranges.map((range) => ({ range, share: budget.share(ranges.length) }));
    const blocks = await Promise.all(reads.map(({ range, share }) => this.#loadRange(scope, length, range, share)));
    return blocks.every((list) => list !== undefined) ? blocks.flat().filter(isOccupied) : undefined;
  }

  /** The block under a parent, an empty one if none is stored; those requested in one tick are read in one batch. */
  one(scope: string, parent: string): Promise<CellBlock> {
    return this.#single.load({ scope, parent });
  }

  async #loadRange(scope: string, length: number, { from, to }: ZRange, budget: Budget) {
    const { keys } = this.#db;
    const isLong = to - from > MOST_LOOKED_UP;
    const parents = isLong ? [] : Array.from({ length: to - from }, (_, index) => fromZ(from + index, length));
    const cached = parents.map((parent) => this.#cache.get(blockName(scope, parent)));
    const first = isLong ? 0 : cached.indexOf(undefined);
    const last = isLong ? to - from - 1 : cached.lastIndexOf(undefined);
    if (first < 0) return this.#hit(scope, cached);
    const token = this.#cache.begin();
    const { pk, ...bounds } = keys.cellRange(scope, fromZ(from + first, length), fromZ(from + last, length));
    const answer = await this.#range({ range: { index: 'cells', pk, ...bounds }, limit: Infinity, budget });
    if (!answer.complete) return undefined;
    const read: CellBlock[] = [];
    await eachInTurns(answer.items, this.#turn, (item) => {
      const block = this.#decode(item);
      if (block) read.push(block);
    });
    if (isLong) return read.map((block) => this.#cache.put(blockName(scope, block.parent), block, token));
    const missing = new Map(parents.slice(first, last + 1).map((parent) => [parent, emptyBlock(parent)]));
    for (const block of read) missing.set(block.parent, block);
    return [
      ...this.#hit(scope, cached.slice(0, first)),
      ...Array.from(missing.values(), (block) => this.#cache.put(blockName(scope, block.parent), block, token)),
      ...this.#hit(scope, cached.slice(last + 1)),
    ];
  }

  /** Overlapping ranges share their items. */
  #decode(item: Item): CellBlock | undefined {
    const known = this.#decoded.get(item);
    if (known !== undefined) return known;
    const block = blockFromItem(this.#db.keys, item);
    if (block) this.#decoded.set(item, block);
    return block;
  }

  async #loadEach(names: readonly BlockName[]): Promise<CellBlock[]> {
    const token = this.#cache.begin();
    const known = new Map<string, CellBlock>();
    for (const name of names) {
      const block = this.#cache.get(nameOf(name));
      if (block) known.set(nameOf(name), block);
      this.#hit(name.scope, [block]);
    }
    const missing = groupBy(
      names.filter((name) => !known.has(nameOf(name))),
      ({ scope }) => scope,
    );
    for (const [scope, group] of missing) {
      const parents = group.map(({ parent }) => parent);
      for (const block of await getBlocks(this.#db, scope, parents, this.#call)) {
        known.set(
          nameOf({ scope, parent: block.parent }),
          this.#cache.put(blockName(scope, block.parent), block, token),
        );
      }
    }
    return names.map((name) => known.get(nameOf(name)) ?? emptyBlock(name.parent));
  }

  /** Counts neighboring blocks of one partition that needed no call, and reports them as a range from the cache. */
  #hit(scope: string, cached: readonly (CellBlock | undefined)[]): CellBlock[] {
    const blocks = cached.filter((block) => block !== undefined);
    const { meter, reads } = this.#call;
    meter.cacheHits += blocks.length;
    const [first, last] = [blocks[0], blocks.at(-1)];
    // The block of a whole collection has no position on a map.
    if (reads && first && last && last.parent !== '') {
      const range = this.#db.keys.cellRange(scope, first.parent, last.parent);
      reads.push({ index: 'cells', ...range, items: blocks.filter(isOccupied).length, readUnits: 0, cached: true });
    }
    return blocks;
  }
}
