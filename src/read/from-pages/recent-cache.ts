import { LRUCache } from 'lru-cache';

import { RecentCells } from '../../pages/recent-cells.js';
import { RecentWrites } from '../../pages/recent-writes.js';
import type { Began, PublishedWrites } from '../../store/cell/stream-state.js';
import type { Call } from '../../store/database.js';
import { OwnPublications } from '../../store/page/own-publications.js';
import type { PagesOf } from '../../store/page/pages.js';
import { readRecentWrites, type PublishedItems } from '../../store/page/recent-writes.js';

/** What was published and is in pages, or blocks, only later. */
export interface Recent {
  readonly writes: RecentWrites;
  readonly cells: RecentCells;
}

/** Whose recent writes to read; those of sources have consumers of their own. */
export interface RecentOf extends PagesOf {
  readonly isSource: boolean;
}

interface Kept extends Recent {
  readonly generation: string;
  /** The version of the consumer's state up to which this was published. */
  readonly to: number;
  readonly began: Began;
}

/** Writes and changes of blocks, of all collections, some 300 bytes each. Larger ones are read again by each request. */
const MOST_KEPT = 200_000;

/** Reads the published writes that pages may lack, each of them once in this process. */
export class RecentCache {
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ writes, cells }) => 1 + writes.size + cells.size,
  });
  readonly #reading = new Map<string, Promise<Kept>>();
  /** What the consumer of collections, if it is in this process, has published. */
  readonly own = new OwnPublications();

  /**
   * What must be laid over the pages and blocks of a collection when these include all batches up to `complete`. Throws
   * UnknownPageFormat.
   */
  async of(call: Call, of: RecentOf, published: PublishedWrites, complete: number): Promise<Recent> {
    const { scope, generation } = of;
    const serves = (kept: Kept | undefined) => kept?.generation === generation && kept.to >= published.to;
    let kept = this.#kept.get(scope);
    for (let reading = this.#reading.get(scope); reading && !serves(kept); reading = this.#reading.get(scope)) {
      kept = await reading.catch(() => undefined);
    }
    if (!kept || !serves(kept)) {
      const read = this.#read(call, of, published, kept).finally(() => this.#reading.delete(scope));
      this.#reading.set(scope, read);
      kept = await read;
    }
    const recent = { writes: kept.writes.after(complete), cells: kept.cells.after(complete) };
    const isLess = recent.writes !== kept.writes || recent.cells !== kept.cells;
    if (isLess && this.#kept.get(scope) === kept) this.#kept.set(scope, { ...kept, ...recent });
    return recent;
  }

  async #read(call: Call, of: RecentOf, published: PublishedWrites, before: Kept | undefined): Promise<Kept> {
    const { from, to, began, items } = published;
    // Without a gap between them.
    const known = before?.generation === of.generation && before.to >= from - 1 ? before : undefined;
    const first = known ? known.to + 1 : from;
    const own = of.isSource ? undefined : this.own.of(of.scope, first, to, began.version);
    const listed = items === undefined ? undefined : Object.entries(JSON.parse(items) as PublishedItems);
    const ofScope = listed && (listed.find(([scope]) => scope === of.scope)?.[1] ?? []);
    const range = { scope: of.scope, from: first, to, items: ofScope?.filter(([version]) => version >= first) };
    const later = await readRecentWrites(call, range, of.collection, own);
    const writes = (known?.writes ?? RecentWrites.NONE).with(later);
    const cells = (known?.cells ?? RecentCells.NONE)
      // Of what an earlier owner published, that of batches which it applied.
      .before(known?.began.version === began.version ? Infinity : began.batch)
      .with(
        later.flatMap(({ version, sums }) =>
          sums.filter(({ batch }) => version >= began.version || batch < began.batch),
        ),
      );
    const kept = { generation: of.generation, to, began, writes, cells };
    this.#kept.set(of.scope, kept);
    return kept;
  }
}
