import { LRUCache } from 'lru-cache';

import { RecentWrites } from '../../pages/recent-writes.js';
import type { PublishedWrites } from '../../store/cell/stream-state.js';
import type { Database } from '../../store/database.js';
import type { PagesOf } from '../../store/page/pages.js';
import { readRecentWrites } from '../../store/page/recent-writes.js';
import type { Call } from '../../store/request/meter.js';

interface Kept {
  readonly generation: string;
  /** The version of the consumer's state up to which these writes were published. */
  readonly to: number;
  readonly writes: RecentWrites;
}

/** Of all collections, some 300 bytes each. Larger ones are read again by each request. */
const MOST_WRITES = 200_000;

/** Reads the published writes that pages may lack, each of them once in this process. */
export class RecentCache {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_WRITES,
    sizeCalculation: ({ writes }) => 1 + writes.size,
  });
  readonly #reading = new Map<string, Promise<Kept>>();

  /**
   * What must be laid over the pages of a collection when these include all batches up to `complete`. Throws
   * UnknownPageFormat.
   */
  async of(db: Database, of: PagesOf, published: PublishedWrites, complete: number, call: Call): Promise<RecentWrites> {
    const { scope, generation } = of;
    const serves = (kept: Kept | undefined) => kept?.generation === generation && kept.to >= published.to;
    let kept = this.#kept.get(scope);
    for (let reading = this.#reading.get(scope); reading && !serves(kept); reading = this.#reading.get(scope)) {
      kept = await reading.catch(() => undefined);
    }
    if (!kept || !serves(kept)) {
      const read = this.#read(db, of, published, kept, call).finally(() => this.#reading.delete(scope));
      this.#reading.set(scope, read);
      kept = await read;
    }
    const writes = kept.writes.after(complete);
    if (writes !== kept.writes && this.#kept.get(scope) === kept) this.#kept.set(scope, { ...kept, writes });
    return writes;
  }

  async #read(
    db: Database,
    of: PagesOf,
    { from, to }: PublishedWrites,
    before: Kept | undefined,
    call: Call,
  ): Promise<Kept> {
    // Without a gap between them.
    const known = before?.generation === of.generation && before.to >= from - 1 ? before : undefined;
    const later = await readRecentWrites(db, of, known ? known.to + 1 : from, to, call);
    const kept = { generation: of.generation, to, writes: (known?.writes ?? RecentWrites.NONE).with(later) };
    this.#kept.set(of.scope, kept);
    return kept;
  }
}
