import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { HALF_AROUND } from '../../src/geo/circle.js';
import { silentLog } from '../../src/log.js';
import { collectionMarkers } from '../../src/map/collection.js';
import type { Connection, Edge } from '../../src/map/connection.js';
import { markersWithin } from '../../src/map/near/near.js';
import type { Collection } from '../../src/model/collection.js';
import type { MapMarker } from '../../src/model/marker.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { newCall } from '../../src/store/database.js';
import { mapMarkerFromIndex, newMarkerItem } from '../../src/store/marker/marker-item.js';
import { MOST_HINTS } from '../../src/store/page/pages.js';
import { openPages } from '../../src/stream/consume/derived-ports.js';
import { applyToPages } from '../../src/stream/pages/apply.js';
import { makeCollection, NOW, requestContext, type ContextOptions, type Made } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { GENERATION, testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { rounds, variants } from '../support/rounds.js';

const database = memoryDatabase();
const LEAST_LIMITS = { queryCalls: 40, itemsPerField: 100 };

const placed = (position: Made['position'], index: number): Made => ({
  key: `m${index}`,
  position,
  category: index % 2 ? 'odd' : 'even',
  properties: {},
});

/** The keys of all pages, in order; fails if a page ends where it began. */
async function pageThrough(
  options: ContextOptions,
  read: (
    context: ReturnType<typeof requestContext>['context'],
    after: string | null,
  ) => Promise<Connection<Edge<MapMarker>>>,
): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | null = null; ;) {
    const { edges, pageInfo } = await read(requestContext(database, options).context, after);
    keys.push(...edges.map(({ node }) => node.key));
    if (!pageInfo.hasNextPage) return keys;
    expect(pageInfo.endCursor).not.toBe(after);
    after = pageInfo.endCursor;
  }
}

describe('a crowd at one position', () => {
  const names = Array.from({ length: rounds('crowd') }, (_, index) => `m${index}`).toSorted();
  const crowd = (key: string, position: Made['position']) =>
    makeCollection(
      database,
      { key },
      names.map((_, index) => placed(position, index)),
    );

  test.each(variants([0, 64e6]))('can be listed to its end (page cache of %i bytes)', async (cacheBytes) => {
    const collection = await crowd(`crowd${cacheBytes}`, { lng: 0, lat: 0 });
    const pages = testPages({ trusted: true, cacheBytes });
    const list = pageThrough({ pages }, (context, after) =>
      collectionMarkers(context, collection, { first: 50, after }),
    );
    expect(await list).toEqual(names);
  });

  test('can be paged by distance, even on the other side of the globe and with the least limits', async () => {
    const collection = await crowd('antipode', { lng: 180, lat: 0 });
    const circle = { center: { lng: 0, lat: 0 }, radius: HALF_AROUND };
    const list = pageThrough({ limits: LEAST_LIMITS }, (context, after) =>
      markersWithin(context, collection, circle, { first: 100, after }),
    );
    expect(await list).toEqual(names);
  });
});

test('a filtered list over 32 write shards can be paged with the least limits', async () => {
  const made = Array.from({ length: 50 }, (_, index) => placed({ lng: index, lat: index }, index));
  const collection = await makeCollection(database, { key: 'shards', prefixLength: 0, writeShards: 32 }, made);
  const list = pageThrough({ limits: LEAST_LIMITS, trusted: false }, (context, after) =>
    collectionMarkers(context, collection, { first: 10, after }, { category: ['odd'] }),
  );
  expect(await list).toHaveLength(25);
});

test('a list of which most markers were deleted can be paged to its end', async () => {
  const random = randomFrom(3);
  const at = () => ({ lng: 1 + 40 * random(), lat: 1 + 40 * random() });
  const made = Array.from({ length: rounds('deletedMarkers') }, (_, index) => placed(at(), index));
  const collection: Collection = await makeCollection(database, { key: 'deleted' }, made);
  const scope = database.keys.scope(collection);
  const drawn = made.map((one) =>
    mapMarkerFromIndex(database.keys, newMarkerItem(database, collection, one, NOW), collection.key),
  );
  const ordered = drawn.map((one) => orderedMarker(one!)).sort((a, b) => (a.position < b.position ? -1 : 1));
  const { open, ...pages } = openPages(newCall(database));
  const options = {
    ...pages,
    mostHints: MOST_HINTS,
    pages: open(GENERATION),
    clock: systemClock,
    signal: new AbortController().signal,
    log: silentLog,
    holds: () => true,
  };
  const gone = ordered.slice(0, -5).map(({ position }) => ({ scope, before: position, after: undefined }));
  await applyToPages(options, 2, gone);
  const list = pageThrough({ pages: testPages({ trusted: true }) }, (context, after) =>
    collectionMarkers(context, collection, { first: 100, after }),
  );
  expect(await list).toEqual(ordered.slice(-5).map(({ marker }) => marker.key));
});
