import { CellportError } from '../../errors.js';
import type { ConsumerTrust, Lacking } from '../../loaders/consumer-trust.js';
import type { Collection } from '../../model/collection.js';
import { RecentCells } from '../../pages/recent-cells.js';
import { RecentWrites } from '../../pages/recent-writes.js';
import type { Call } from '../../store/database.js';
import { UnknownPageFormat } from '../../store/page/pages.js';
import { hasSource } from '../../store/source/source-mapping.js';
import type { Recent, RecentCache } from './recent-cache.js';

export interface RecentParts {
  readonly cache: RecentCache;
  readonly trust: ConsumerTrust;
  readonly sourceTrust: (scope: string) => ConsumerTrust;
  readonly call: Call;
}

/** For a collection that follows a table, before that was read for the first time. */
export const notFilled = ({ key }: Collection) =>
  new CellportError('UNAVAILABLE', `collection ${key} is being filled from its table; try again later`, {
    collection: key,
  });

/** Reads, for one request, what was published and pages and blocks of cells may lack. */
export class RecentLoader {
  readonly #parts: RecentParts;

  constructor(parts: RecentParts) {
    this.#parts = parts;
  }

  /** Who tells what the consumer of a collection has done. */
  trustIn(collection: Collection): ConsumerTrust {
    const { call, trust, sourceTrust } = this.#parts;
    return hasSource(collection) ? sourceTrust(call.db.keys.scope(collection)) : trust;
  }

  /** Throws UNAVAILABLE for a collection of which nothing is known yet: that it has no blocks does not mean that it is empty. */
  async requireFilled(collection: Collection): Promise<void> {
    if (!hasSource(collection)) return;
    // If that cannot be read, blocks may be cached.
    const last = await this.trustIn(collection)
      .lastPages()
      .catch(() => null);
    if (last === undefined) throw notFilled(collection);
  }

  /** What must be laid over pages. */
  async writes(collection: Collection, over: Omit<Lacking, 'published'> & Partial<Lacking>): Promise<RecentWrites> {
    const { published } = over;
    return published ? (await this.#read(collection, { ...over, published })).writes : RecentWrites.NONE;
  }

  /** What must be laid over blocks of cells. */
  async cells(collection: Collection): Promise<RecentCells> {
    const lacking = await this.trustIn(collection).lacking();
    if (lacking === undefined) return RecentCells.NONE;
    try {
      return (await this.#read(collection, lacking)).cells;
    } catch (error) {
      // Published by a later release: counts are then as old as the last batch.
      if (error instanceof UnknownPageFormat) return RecentCells.NONE;
      throw error;
    }
  }

  #read(collection: Collection, { generation, published, complete }: Lacking): Promise<Recent> {
    const { cache, call } = this.#parts;
    const scope = call.db.keys.scope(collection);
    const of = { scope, collection: collection.key, generation, isSource: hasSource(collection) };
    // Other requests wait for this read, too.
    return cache.of({ ...call, signal: undefined, claim: undefined }, of, published, complete);
  }
}
