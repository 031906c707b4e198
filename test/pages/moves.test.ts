import { describe, expect, test } from 'vitest';

import { encode, LONGEST_Z, type ZRange } from '../../src/geo/geohash.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { readConnection } from '../../src/map/connection.js';
import { markersWithin, nearestMarkers } from '../../src/map/near/near.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapMarker } from '../../src/model/marker.js';
import { overlaps, PartitionPages } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { RecentWrites, type RecentWrite } from '../../src/pages/recent-writes.js';
import type { MarkerFilterInput } from '../../src/read/filter.js';
import type { SearchContext } from '../../src/read/search.js';
import { searchContext } from '../support/search-context.js';

const LAT = 1;
const markerAt = (key: string, lng: number, mapVersion = 1): MapMarker => {
  const position = { lng, lat: LAT };
  const rest = { name: null, category: key.charAt(0), mapProperties: {}, complete: false } as const;
  return { collection: 'c', key, position, geohash: encode(position, LONGEST_Z), mapVersion, ...rest };
};
const inOrder = (markers: readonly MapMarker[]) =>
  markers.map(orderedMarker).sort((a, b) => compareBytes(a.position, b.position));
const MIDDLE = encode({ lng: 0.5, lat: LAT }, LONGEST_Z);
const collection = { key: 'c', mapProperties: [] } as unknown as Collection;
const filter = { category: ['m'] };

/** Only base items tell whether markers match it. */
const PROPERTY = { properties: [{ name: 'p', gte: 1 }] };
const center = { lng: 20, lat: LAT };

/** What one read of pages finds; `ownWrite` is made meanwhile. */
interface Reading {
  readonly entries: MapMarker[];
  readonly again: boolean;
  readonly ownWrite?: RecentWrite;
}

function contextOf(
  reads: Reading[],
  most: number,
  begins = ['s', MIDDLE],
  own: readonly RecentWrite[] = [],
): SearchContext {
  let ownWrites = own;
  const hints = begins.map((begin) => ({ begin, markers: most, bytes: 1e6 }));
  const partitions = [...new Set(begins.map((begin) => begin.charAt(0)))];
  const pagesOf = (partition: string) => new PartitionPages(hints.filter(({ begin }) => begin.startsWith(partition)));
  const pages = {
    get recent() {
      return RecentWrites.NONE.including(ownWrites);
    },
    directory: (ranges: readonly ZRange[]) =>
      Promise.resolve({
        directory: new Map(partitions.filter((one) => overlaps(one, ranges)).map((one) => [one, pagesOf(one)])),
        upTo: undefined,
      }),
    read: () => {
      const { entries, again, ownWrite } = reads.shift()!;
      if (ownWrite) ownWrites = [ownWrite];
      return Promise.resolve({ entries: inOrder(entries), again, distinct: false });
    },
  };
  // All base items whose key begins with m have a property.
  return searchContext(pages, { itemsPerField: 1e6 }, (key) => (key.startsWith('m') ? { p: 1 } : {}));
}

const others = Array.from({ length: 20 }, (_, index) => markerAt(`o${index}`, 0.2 + index / 1e3));

describe('a marker that moves towards the beginning while an answer is read', () => {
  test('by a write of this process, is in a filtered page', async () => {
    const moved = markerAt('m1', 0.1, 2);
    const context = contextOf(
      [
        { entries: others, again: false },
        {
          entries: [markerAt('m1', 0.6), markerAt('m2', 0.7)],
          again: false,
          ownWrite: { key: 'm1', mapVersion: 2, entry: orderedMarker(moved) },
        },
      ],
      1_000,
    );
    const list = { collection, of: ['x'], cover: [{ from: 0, to: 32 ** LONGEST_Z }], accept: () => true, filter };
    const { edges } = await readConnection(context, list, { first: 100 });
    expect(edges.map(({ node }) => node.key)).toEqual(['m1', 'm2']);
  });

  const near = Array.from({ length: 20 }, (_, index) => markerAt(`o${index}`, 20.2 + index / 1e3));

  test('by a write of this process, is among the nearest', async () => {
    const moved = markerAt('m1', 20.1, 2);
    const context = contextOf(
      [
        { entries: near, again: false },
        {
          entries: [markerAt('m1', -10), markerAt('m2', -20)],
          again: false,
          ownWrite: { key: 'm1', mapVersion: 2, entry: orderedMarker(moved) },
        },
      ],
      20,
      ['e', 's'],
    );
    const found = await nearestMarkers(context, collection, { center, count: 2 }, filter);
    expect(found.map(({ node }) => node.key)).toEqual(['m1', 'm2']);
  });

  test('is still among the nearest, where pages are read again', async () => {
    const moved = markerAt('m1', 20.1, 2);
    const context = contextOf(
      [
        { entries: [...near, markerAt('m1', 20.15)], again: false },
        { entries: [...near, moved, markerAt('m2', -10), markerAt('m3', -20)], again: true },
      ],
      20,
      ['e', 's'],
    );
    const found = await nearestMarkers(context, collection, { center, count: 2 }, filter);
    expect(found.map(({ node }) => node.key)).toEqual(['m1', 'm2']);
  });

  test('is on the next page, if more of them than can be looked up move nearer', async () => {
    const many = Array.from({ length: 997 }, (_, index) => markerAt(`o${index}`, 20.2 + index / 1e6));
    const far = markerAt('m0', 20.3);
    // With the 143 that were looked up before, all but three of these.
    const nearer = [
      ...Array.from({ length: 855 }, (_, index) => markerAt(`n${index}`, 20 + index / 1e5, 2)),
      ...[1, 2, 3, 4, 5].map((index) => markerAt(`m${index}`, 20.1 + index / 1e3, 2)),
    ];
    const all = [...many, far, ...nearer];
    const contexts = [
      contextOf(
        [
          { entries: [...many, far], again: false },
          { entries: all, again: true },
        ],
        20,
        ['e', 's'],
      ),
      contextOf([{ entries: all, again: false }], 2_000, ['s']),
      contextOf([{ entries: all, again: false }], 2_000, ['s']),
    ];
    const found: string[] = [];
    let after: string | null = null;
    for (const context of contexts) {
      const circle = { center, radius: 1e7 };
      const page = { first: 10, after };
      const { edges, pageInfo } = await markersWithin(context, collection, circle, page, {
        ...PROPERTY,
      });
      found.push(...edges.map(({ node }) => node.key));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(found).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm0']);
  });
});

async function pageThrough(
  first: number,
  reads: () => Reading[],
  later: () => Reading[],
  own: readonly RecentWrite[],
  wanted: MarkerFilterInput,
) {
  const keys: string[] = [];
  let after: string | null = null;
  for (let n = 0; n < 10; n++) {
    const context = contextOf(n === 0 ? reads() : later(), 1_000, ['e', 's'], own);
    const { edges, pageInfo } = await markersWithin(
      context,
      collection,
      { center, radius: 2e7 },
      { first, after },
      wanted,
    );
    keys.push(...edges.map(({ node }) => node.key));
    if (!pageInfo.hasNextPage) return keys;
    after = pageInfo.endCursor;
  }
  return keys;
}

test('own writes are decided once', async () => {
  // 150 that match, written by this process a moment ago, and 800 others around them.
  const mine = Array.from({ length: 150 }, (_, index) => markerAt(`m${index}`, 20.1 + index / 1e4));
  const others = Array.from({ length: 800 }, (_, index) => markerAt(`o${index}`, 20.2 + index / 1e4));
  const own = mine.map((marker): RecentWrite => ({ key: marker.key, mapVersion: 1, entry: orderedMarker(marker) }));
  const far = [markerAt('o', -10)];
  const reads = () => [
    { entries: others, again: false },
    { entries: far, again: false },
  ];
  const keys = await pageThrough(200, reads, reads, own, PROPERTY);
  expect(keys).toHaveLength(150);
});

test('two markers that move nearer while a page is read are both in the list', async () => {
  const moved = [markerAt('m5', 20.05, 2), markerAt('m6', 20.06, 2)];
  const stay = [
    markerAt('m0', 20.1),
    markerAt('m1', 20.11),
    ...Array.from({ length: 20 }, (_, index) => markerAt(`o${index}`, 20.2 + index / 1e3)),
  ];
  const far = [markerAt('m8', -10), markerAt('m9', -11)];
  const keys = await pageThrough(
    2,
    () => [
      { entries: stay, again: false },
      { entries: [...stay, ...moved, ...far], again: true },
    ],
    () => [
      { entries: [...stay, ...moved], again: false },
      { entries: far, again: false },
    ],
    [],
    { category: ['m'] },
  );
  expect(keys.sort()).toEqual(['m0', 'm1', 'm5', 'm6', 'm8', 'm9']);
});

test('a marker that moves nearer when no look-ups are left is in the list', async () => {
  const mine = Array.from({ length: 10 }, (_, index) => markerAt(`m${index}`, 20.1 + index / 1e4));
  const others = Array.from({ length: 990 }, (_, index) => markerAt(`o${index}`, 20.2 + index / 1e4));
  const moved = Array.from({ length: 60 }, (_, index) => markerAt(`mm${index}`, 20.01 + index / 1e4, 2));
  const far = [markerAt('m', -10)];
  const keys = await pageThrough(
    100,
    () => [
      { entries: [...mine, ...others], again: false },
      { entries: [...mine, ...others, ...moved, ...far], again: true },
    ],
    () => [
      { entries: [...mine, ...others, ...moved], again: false },
      { entries: far, again: false },
    ],
    [],
    PROPERTY,
  );
  expect(keys.sort()).toEqual([...mine.map(({ key }) => key), ...moved.map(({ key }) => key), 'm'].sort());
});
