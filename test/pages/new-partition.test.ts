import { expect, test } from 'vitest';

import { GEOHASH_ALPHABET, LONGEST_Z } from '../../src/geo/geohash.js';
import type { Budget } from '../../src/loaders/budget.js';
import { readConnection } from '../../src/map/connection.js';
import type { Collection } from '../../src/model/collection.js';
import { PartitionPages } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import type { PlannedRead } from '../../src/pages/plan-reads.js';
import { RecentWrites } from '../../src/pages/recent-writes.js';
import { markersOf, readPages } from '../../src/read/from-pages/chain.js';
import { applyToPages, roundOf } from '../../src/stream/pages/apply.js';
import { PageMemory } from '../../src/stream/pages/memory.js';
import { searchContext } from '../support/search-context.js';
import { applying, markerAt, PageTable, SCOPE, sourceOf } from './support.js';

test('a page read while a marker moves to a part of the world without markers skips none', async () => {
  const table = new PageTable();
  const memory = new PageMemory();
  // All in partition 's', in many pages.
  const markers = Array.from({ length: 200 }, (_, index) => markerAt(`m${index}`, 1 + index / 10, 1, 1));
  await applyToPages(
    applying(table, memory),
    1,
    markers.map((m) => ({ scope: SCOPE, before: undefined, after: orderedMarker(m) })),
  );
  // What a server has read of the directory: only 's' has pages.
  const all = table.all();
  const hints = all.map(({ begin, entries }) => ({ begin, markers: entries.length, bytes: 700 }));
  const directory = new Map([['s', new PartitionPages(hints)]]);
  // The first marker moves to where there was none, east of Japan.
  const first = orderedMarker(markers[0]!);
  const moved = markerAt('m0', 150, 40, 2);
  await applyToPages(applying(table, memory), 2, [
    { scope: SCOPE, before: first.position, after: orderedMarker(moved) },
  ]);

  const source = sourceOf(table);
  const pages = (isOld: boolean) => ({
    recent: RecentWrites.NONE,
    directory: () => {
      if (isOld) return Promise.resolve({ directory, upTo: undefined });
      const now = table.all().map(({ begin, entries }) => ({ begin, markers: entries.length, bytes: 700 }));
      const byPartition = new Map(
        [...new Set(now.map(({ begin }) => begin.charAt(0)))]
          .sort()
          .map((p) => [p, new PartitionPages(now.filter(({ begin }) => begin.startsWith(p)))] as const),
      );
      return Promise.resolve({ directory: byPartition, upTo: undefined });
    },
    read: async (reads: readonly PlannedRead[], earlier: readonly PlannedRead[], budget: Budget) => {
      budget.debit({ calls: 1 });
      const others = isOld ? Array.from(GEOHASH_ALPHABET).filter((partition) => partition !== 's') : [];
      const answer = await readPages(source, reads, earlier, others, roundOf(1, true));
      return { entries: markersOf(answer, 0), again: answer.again.length > 0, distinct: answer.distinct };
    },
  });
  const collection = { key: SCOPE, mapProperties: [] } as unknown as Collection;
  const list = {
    collection,
    of: ['x'],
    cover: [{ from: 0, to: 32 ** LONGEST_Z }],
    accept: ({ key }: { readonly key: string }) => key.endsWith('0'),
  };
  for (const size of [1, 2, 3, 5, 10, 19, 20, 30]) {
    const keys: string[] = [];
    let after: string | null = null;
    for (let n = 0; ; n++) {
      const { edges, pageInfo } = await readConnection(searchContext(pages(n === 0)), list, { first: size, after });
      keys.push(...edges.map(({ node }) => node.key));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    const missing = markers
      .map(({ key }) => key)
      .filter((key) => key.endsWith('0'))
      .filter((key) => !keys.includes(key));
    expect.soft(missing, `first ${size}`).toEqual([]);
    expect.soft(new Set(keys).size).toBe(keys.length);
    expect.soft(keys.at(-1)).toBe('m0');
  }
});
