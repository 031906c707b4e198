import { expect, test } from 'vitest';

import { encode, LONGEST_Z } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { Budget } from '../../src/loaders/budget.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapMarker } from '../../src/model/marker.js';
import { PartitionPages } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { RecentWrites } from '../../src/pages/recent-writes.js';
import { readFilter } from '../../src/read/filter.js';
import { findMarkers } from '../../src/read/find-markers.js';
import type { SearchedPages } from '../../src/read/search.js';
import { searchContext } from '../support/search-context.js';

const LAT = 1;
const markerAt = (key: string, lng: number, mapVersion = 1): MapMarker => {
  const position = { lng, lat: LAT };
  const geohash = encode(position, LONGEST_Z);
  const rest = { name: null, category: null, mapProperties: {}, complete: false } as const;
  return { collection: 'c', key, position, geohash, mapVersion, ...rest };
};
const some = (name: string, count: number, west: number, mapVersion = 1) =>
  Array.from({ length: count }, (_, index) => markerAt(`${name}${index}`, west + index / 1e4, mapVersion));
const inOrder = (markers: readonly MapMarker[]) =>
  markers.map(orderedMarker).sort((a, b) => compareBytes(a.position, b.position));

/** Two pages; everything was read again with the second, because markers moved from it to the first. */
const FIRST = some('stays', 90, 0.2);
const MOVED = some('moves', 40, 0.1, 2);
const SECOND = [...some('moves', 40, 0.6), ...some('last', 20, 0.7)];
const NOW = [...MOVED, ...FIRST, ...SECOND.filter(({ key }) => key.startsWith('last'))];
const MIDDLE = encode({ lng: 0.5, lat: LAT }, LONGEST_Z);

/** Pages that move in between, and whose second read spends all calls. */
function pages(): Omit<SearchedPages, 'keyOf'> {
  const reads = [
    { entries: inOrder(FIRST), again: false, distinct: false },
    { entries: inOrder([...NOW, ...SECOND]), again: true, distinct: false },
  ];
  const hints = ['s', MIDDLE].map((begin) => ({ begin, markers: 1_000, bytes: 1e6 }));
  return {
    recent: RecentWrites.NONE,
    directory: () => Promise.resolve({ directory: new Map([['s', new PartitionPages(hints)]]), upTo: undefined }),
    read: (_reads, _earlier, budget) => {
      const read = reads.shift();
      if (!read) throw new Error('read too often');
      if (read.again) budget.debit({ calls: budget.calls });
      return Promise.resolve(read);
    },
  };
}

test('a page that ends before markers found by reading again leaves all that follow to the next page', async () => {
  const collection = { key: 'c', mapProperties: [] } as unknown as Collection;
  const filter = readFilter({ properties: [{ name: 'size', eq: 1 }] });
  const cover = [{ from: 0, to: 32 ** LONGEST_Z }];
  const context = searchContext(pages(), { queryCalls: 16, itemsPerField: 1e6 }, () => ({ size: 1 }));
  const query = { collection, cover, filter, accept: () => true, wanted: 200 };
  const { found, resumeAfter, ended } = await findMarkers(context, { ...query, budget: Budget.of(context.limits) });
  expect(ended).toBe(false);
  const next = inOrder(NOW).filter(({ position }) => compareBytes(position, resumeAfter ?? '') > 0);
  const keys = [...found, ...next].map(({ marker }) => marker.key);
  expect(found.length).toBeGreaterThan(0);
  expect(keys.toSorted()).toEqual(NOW.map(({ key }) => key).toSorted());
});
