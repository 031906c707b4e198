import DataLoader from 'dataloader';

import { fromZ, toZ, type ZRange } from '../geo/geohash.js';
import { placeOfParent, type CellBlock } from '../model/cell.js';
import type { Collection } from '../model/collection.js';
import { REQUEST_LIMITS } from '../model/dynamodb-limits.js';
import { unitsOf } from '../model/read-cost.js';
import type { RecentCells } from '../pages/recent-cells.js';
import type { BlockPlan } from '../plan/blocks.js';
import { eachInTurns, type Turn } from '../scheduling/turns.js';
import { getBlocks, type BlockName } from '../store/cell/blocks.js';
import { blockFromItem } from '../store/cell/cells.js';
import type { Call, Item } from '../store/database.js';
import { derivedKind } from '../store/request/read-log.js';
import type { Budget } from './budget.js';
import { blockName, type CellCache } from './cell-cache.js';
import type { FillToken } from './followed-cache.js';
import { groupBy } from './group.js';
import type { RangeLoader } from './range-loader.js';
import { remembered } from './remembered.js';

/** Ranges with more blocks than this are read without checking the cache for each block. */
const MOST_LOOKED_UP = 8_192;

const isOccupied = ({ children }: CellBlock) => children.size > 0;
const emptyBlock = (parent: string): CellBlock => ({ parent, batch: 0, children: new Map() });

const isWide = ({ from, to }: ZRange) => to - from > MOST_LOOKED_UP;

/** Blocks in wide ranges that are not stored yet: of others, those that are missing are known to be empty. */
function unread(stored: readonly CellBlock[], recent: RecentCells, length: number, ranges: readonly ZRange[]) {
  const wide = ranges.filter(isWide);
  if (wide.length === 0) return [];
  const known = new Set(stored.map(({ parent }) => parent));
  const isAsked = (at: number) => wide.some(({ from, to }) => at >= from && at < to);
  const isUnread = (parent: string) =>
    parent.length === length && !known.has(parent) && placeOfParent(parent) === undefined && isAsked(toZ(parent));
  return [...recent.parents()].filter(isUnread).map(emptyBlock);
}

/** What a request reads blocks with. */
export interface BlockParts {
  readonly cache: CellCache;
  readonly call: Call;
  readonly ranges: RangeLoader;
  /** What must be laid over the blocks of a collection. */
  readonly recentIn: (collection: Collection) => Promise<RecentCells>;
  /** Throws UNAVAILABLE if nothing is known of a collection yet. */
  readonly requireFilled: (collection: Collection) => Promise<void>;
}

/** Reads cell blocks for one request, from the cache if possible. */
export class BlockLoader {
  readonly #cache: CellCache;
  readonly #call: Call;
  readonly #ranges: RangeLoader;
  readonly #recentIn: BlockParts['recentIn'];
  readonly #requireFilled: BlockParts['requireFilled'];
  readonly #turn: Turn = () => this.#call.db.scheduler.takeTurn(this.#call.signal);
  readonly #decoded = new WeakMap<Item, CellBlock | undefined>();
  /** Blocks that this request has read, by `blockName`: the cache keeps none if it is off. */
  readonly #read = new Map<string, CellBlock>();
  readonly #single = new DataLoader<BlockName, CellBlock, string>((names) => this.#loadEach(names), {
    cacheKeyFn: ({ scope, parent }) => blockName(scope, parent),
    batchScheduleFn: (step) => this.#call.db.scheduler.afterTurns(step),
  });

  constructor({ cache, call, ranges, recentIn, requireFilled }: BlockParts) {
    this.#cache = cache;
    this.#call = call;
    this.#ranges = ranges;
    this.#recentIn = recentIn;
    this.#requireFilled = requireFilled;
  }

  /**
   * The non-empty blocks of a plan in one collection; undefined if the budget does not cover them. Of each range, only the
   * part from the first to the last missing block is read; single blocks are read together. Throws UNAVAILABLE.
   */
  async load(collection: Collection, { length, ranges }: BlockPlan, budget: Budget): Promise<CellBlock[] | undefined> {
    await this.#turn();
    await this.#requireFilled(collection);
    const scope = this.#call.db.keys.scope(collection);
    const recent = await this.#recentIn(collection);
    const parts = ranges.map((range) => this.#missingOf(scope, length, range));
    const single = parts.filter(({ missing: { from, to } }) => to - from === 1);
    const wide = parts.filter(({ missing: { from, to } }) => to - from > 1);
    const batches = Math.ceil(single.length / REQUEST_LIMITS.batchGet);
    const reads = wide.length + batches;
    if (reads > budget.calls) return undefined;
    const shares = wide.map(({ missing }) => ({ missing, share: budget.share(reads) }));
    budget.debit({ calls: batches });
    const read = await Promise.all([
      ...single.map(async ({ missing: { from } }) => [await this.#single.load({ scope, parent: fromZ(from, length) })]),
      ...shares.map(({ missing, share }) => this.#loadRange(scope, length, missing, share)),
    ]);
    if (!read.every((blocks) => blocks !== undefined)) return undefined;
    const stored = [...parts.map(({ known }) => known), ...read].flat();
    return [...stored, ...unread(stored, recent, length, ranges)].map((block) => recent.over(block)).filter(isOccupied);
  }

  /** The block under a parent, an empty one if none is stored; those requested in one tick are read in one batch. */
  async one(collection: Collection, parent: string): Promise<CellBlock> {
    const recent = await this.#recentIn(collection);
    return recent.over(await this.stored(collection, parent));
  }

  /** The same as it is stored, even if it lacks what was published since. */
  stored(collection: Collection, parent: string): Promise<CellBlock> {
    return this.#single.load({ scope: this.#call.db.keys.scope(collection), parent });
  }

  /** The blocks at both ends of a range that are known, and what is missing between them. */
  #missingOf(scope: string, length: number, { from, to }: ZRange): { known: CellBlock[]; missing: ZRange } {
    if (isWide({ from, to })) return { known: [], missing: { from, to } };
    const blocks = Array.from({ length: to - from }, (_, index) => this.#find(scope, fromZ(from + index, length)));
    const first = blocks.indexOf(undefined);
    if (first < 0) return { known: this.#hit(scope, blocks), missing: { from, to: from } };
    const after = blocks.lastIndexOf(undefined) + 1;
    const known = [...this.#hit(scope, blocks.slice(0, first)), ...this.#hit(scope, blocks.slice(after))];
    return { known, missing: { from: from + first, to: from + after } };
  }

  async #loadRange(scope: string, length: number, { from, to }: ZRange, budget: Budget) {
    const token = this.#cache.begin();
    const { pk, ...bounds } = this.#call.db.keys.cellRange(scope, fromZ(from, length), fromZ(to - 1, length));
    const answer = await this.#ranges.load({ range: { index: 'derived', pk, ...bounds }, limit: Infinity, budget });
    if (!answer.complete) return undefined;
    const blocks = new Map<string, CellBlock>();
    if (!isWide({ from, to })) {
      for (let at = from; at < to; at++) blocks.set(fromZ(at, length), emptyBlock(fromZ(at, length)));
    }
    await eachInTurns(answer.items, this.#turn, (item) => {
      const block = this.#decode(item);
      if (block) blocks.set(block.parent, block);
    });
    return Array.from(blocks.values(), (block) => this.#keep(scope, block, token));
  }

  #find(scope: string, parent: string): CellBlock | undefined {
    const name = blockName(scope, parent);
    return this.#cache.get(name) ?? this.#read.get(name);
  }

  #keep(scope: string, block: CellBlock, token: FillToken): CellBlock {
    const name = blockName(scope, block.parent);
    const newest = this.#cache.put(name, block, token);
    this.#read.set(name, newest);
    return newest;
  }

  /** Overlapping ranges share their items. */
  #decode(item: Item): CellBlock | undefined {
    return remembered(this.#decoded, item, () => blockFromItem(this.#call.db.keys, item));
  }

  async #loadEach(names: readonly BlockName[]): Promise<CellBlock[]> {
    const token = this.#cache.begin();
    const known = names.map(({ scope, parent }) => this.#hit(scope, [this.#find(scope, parent)])[0]);
    const missing = groupBy(
      names.filter((_, index) => known[index] === undefined),
      ({ scope }) => scope,
    );
    await Promise.all(
      Array.from(missing, async ([scope, group]) => {
        const parents = group.map(({ parent }) => parent);
        const blocks = await getBlocks(this.#call, scope, parents);
        for (const block of blocks) this.#explain(scope, [this.#keep(scope, block, token)], unitsOf(0));
      }),
    );
    return names.map(
      ({ scope, parent }, index) => known[index] ?? this.#read.get(blockName(scope, parent)) ?? emptyBlock(parent),
    );
  }

  /** Counts neighboring blocks of one partition that needed no call, and reports them as a range from the cache. */
  #hit(scope: string, cached: readonly (CellBlock | undefined)[]): CellBlock[] {
    const blocks = cached.filter((block) => block !== undefined);
    this.#call.meter.cacheHits += blocks.length;
    this.#explain(scope, blocks, 0);
    return blocks;
  }

  /** Reports neighboring blocks that were read by key, or are from the cache and cost nothing. */
  #explain(scope: string, blocks: readonly CellBlock[], readUnits: number): void {
    const { reads } = this.#call;
    const [first, last] = [blocks[0], blocks.at(-1)];
    // The block of a whole collection has no position on a map.
    if (!reads || !first || !last || last.parent === '') return;
    const { keys } = this.#call.db;
    const range = keys.cellRange(scope, first.parent, last.parent);
    const items = blocks.filter(isOccupied).length;
    reads.push({ index: derivedKind(keys, range.pk, range.from), ...range, items, readUnits, cached: readUnits === 0 });
  }
}
