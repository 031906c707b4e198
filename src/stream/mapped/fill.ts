import type { Database } from '../../store/database.js';
import type { Rejected, RejectedItems } from '../../store/source/rejected-items.js';
import { attributesRead, isOrderedByRecords, type SourceCollection } from '../../store/source/source-mapping.js';
import type { Contender } from '../../store/source/winners.js';
import type { WireImage } from '../change.js';
import { versioned } from '../pages/apply.js';
import type { DaysPort } from '../ports.js';
import { Contest } from '../recount/contest.js';
import { openRecount, scan } from '../recount/reads.js';
import type { RecountPort } from '../recount/scan.js';
import { mappedImages, rejectedKeys } from './mapped-stream.js';
import { openWinners } from './winners.js';

/** Markers in tables of others have no readings. */
export const NO_DAYS: DaysPort = {
  collections: () => Promise.resolve(new Map()),
  open: () => Promise.resolve(),
  async *due() {},
  read: (days) => Promise.resolve(days.map(() => undefined)),
  claim: () => Promise.resolve(undefined),
  summarize: () => Promise.resolve(undefined),
  close: () => Promise.resolve(false),
  forget: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

export interface FillOptions {
  /** Whether to compare only. */
  readonly checkOnly?: boolean;
  /** Called with the number of items read so far. */
  readonly onProgress?: (items: number) => void;
  /** The mapping that a new one replaces, and what stores the new one once everything is built. */
  readonly replaced?: { readonly mapping: string; store(): Promise<unknown> };
}

/**
 * What a recount reads of a source: its table, and what was derived from it. Nothing is written to the table, and with
 * `checkOnly` nothing at all. To `rejected`, it adds what it reads.
 */
export function openFill(
  database: Database,
  collection: SourceCollection,
  consumer: string,
  rejected: RejectedItems,
  { checkOnly = false, onProgress }: FillOptions,
): RecountPort {
  const { keys } = database;
  const { source } = collection;
  const own = openRecount(database, consumer, keys.scope(collection));
  const contest = new Contest(openWinners(database, collection), checkOnly);
  return {
    pages: {
      ...own.pages,
      // Versions are those of batches, which the table's items do not have.
      async read(of) {
        const pages = await own.pages.read(of);
        return pages?.map((page) => ({ ...page, entries: page.entries.map((entry) => versioned(entry, 0)) }));
      },
    },
    contest,
    // Where records alone tell an order, all of them count.
    skipsOld: !isOrderedByRecords(source),
    listOthers: () => own.listOthers(),
    async *listDerived() {
      for await (const { pages, ...others } of own.listDerived()) {
        for (const { of, key } of pages) if (of === 'winner') contest.expect(keys.parseWinner(key)?.key ?? '');
        yield { ...others, pages: pages.filter(({ of }) => of !== 'winner') };
      }
    },
    async *scanMarkers() {
      let items = 0;
      for await (const page of scan(database, source.table, attributesRead(source), source.maxRcu)) {
        const images: WireImage[] = [];
        const faults: Rejected[] = [];
        const contenders: (Contender & { readonly key: string })[] = [];
        for (const item of page) {
          for (const [at, { key, image, fault, contender }] of mappedImages(keys, collection, item).entries()) {
            if (key !== undefined && contender) contenders.push({ key, ...contender });
            else if (image) images.push(image);
            if (fault === undefined) continue;
            faults.push({ reason: fault, event: 'SCAN', item: JSON.stringify(rejectedKeys(source, item, at)) });
          }
        }
        await contest.add(contenders);
        rejected.add(faults);
        items += page.length;
        onProgress?.(items);
        yield images;
      }
    },
  };
}
