import { expect, test } from 'vitest';

import { LONGEST_Z, encode } from '../../src/geo/geohash.js';
import type { ZRange } from '../../src/geo/ranges.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import type { OwnWrite } from '../../src/loaders/pages/own-writes.js';
import type { OpenPages } from '../../src/loaders/pages/page-loader.js';
import type { MapContext } from '../../src/map/context.js';
import { markersWithin } from '../../src/map/near/near.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapMarker } from '../../src/model/marker.js';
import { PartitionPages, overlaps } from '../../src/pages/directory.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';

const LAT = 1;
const center = { lng: 20, lat: LAT };
const circle = { center, radius: 2e7 };
const collection = { key: 'c', mapProperties: [] } as unknown as Collection;
const markerAt = (key: string, lng: number, mapVersion = 1): MapMarker => {
  const position = { lng, lat: LAT };
  const rest = { name: null, category: key.charAt(0), mapProperties: {}, complete: false } as const;
  return { collection: 'c', key, position, geohash: encode(position, LONGEST_Z), mapVersion, ...rest };
};
const inOrder = (markers: readonly MapMarker[]) =>
  markers.map(orderedMarker).sort((a, b) => compareBytes(a.position, b.position));

type Reading = { entries: MapMarker[]; again: boolean };

function contextOf(reads: Reading[], own: readonly OwnWrite[], most: number): MapContext {
  const begins = ['e', 's'];
  const hints = begins.map((begin) => ({ begin, markers: most, bytes: 1e6 }));
  const pagesOf = (partition: string) => new PartitionPages(hints.filter(({ begin }) => begin.startsWith(partition)));
  const open: Partial<OpenPages> = {
    ownWrites: own,
    directory: (ranges: readonly ZRange[]) =>
      Promise.resolve({
        directory: new Map(begins.filter((one) => overlaps(one, ranges)).map((one) => [one, pagesOf(one)])),
        upTo: undefined,
      }),
    read: () => {
      const { entries, again } = reads.shift()!;
      return Promise.resolve({ entries: inOrder(entries), again });
    },
  };
  const loaders = {
    pages: { read: (_: Collection, from: (found: Partial<OpenPages>) => unknown) => from(open) },
    marker: ({ key }: { key: string }) =>
      Promise.resolve({ key, category: 'x', properties: { wanted: key.startsWith('m') }, updatedAt: '' }),
  };
  const limits = { rangesPerPage: 64, itemsPerField: 1e6, maxFirst: 1_000 };
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { loaders, limits, turn } as unknown as MapContext;
}

async function pageThrough(
  first: number,
  reads: () => Reading[],
  later: () => Reading[],
  own: readonly OwnWrite[],
  filter: object,
) {
  const keys: string[] = [];
  let after: string | null = null;
  for (let n = 0; n < 10; n++) {
    const context = contextOf(n === 0 ? reads() : later(), own, 1_000);
    const { edges, pageInfo } = await markersWithin(context, collection, circle, { first, after }, filter as never);
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
  const own = mine.map((marker): OwnWrite => ({ key: marker.key, mapVersion: 1, entry: orderedMarker(marker) }));
  const far = [markerAt('o', -10)];
  const reads = () => [
    { entries: others, again: false },
    { entries: far, again: false },
  ];
  const keys = await pageThrough(200, reads, reads, own, { properties: [{ name: 'wanted', eq: true }] });
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
    { properties: [{ name: 'wanted', eq: true }] },
  );
  expect(keys.sort()).toEqual([...mine.map(({ key }) => key), ...moved.map(({ key }) => key), 'm'].sort());
});
