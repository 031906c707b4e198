import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { keepCells } from '../../src/server/cells.js';
import { createCellCache } from '../../src/loaders/cell-cache.js';
import { MarkerCache } from '../../src/loaders/marker-cache.js';
import { silentLog } from '../../src/log.js';
import { viewportCount } from '../../src/map/cells/count.js';
import { viewportFeatures } from '../../src/map/markers/features.js';
import { viewportMarkers } from '../../src/map/markers/markers.js';
import { readViewport } from '../../src/map/viewport.js';
import type { Database } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { newCall } from '../../src/store/request/meter.js';
import { createStreamsClient } from '../../src/stream/dynamodb.js';
import { randomFrom } from '../support/random.js';
import { recordCalls } from '../support/record-calls.js';
import { memoryDatabase } from '../support/memory-store.js';
import { engine, testDatabase } from '../support/test-database.js';
import { LAYOUTS, NOW, bruteInside, makeCollection, realMarkers, requestContext } from './fixture.js';
import { someOf } from '../support/rounds.js';

const MARKERS = realMarkers(500);
const databases = { readable: memoryDatabase('readable'), compact: memoryDatabase('compact') };
const live = await testDatabase('readable', { stream: true });
const SEED = Number(process.env['CELLPORT_SEED'] ?? 20261121);
const RUNS = someOf(20);

/** A cache, and how to wait until it cannot have missed anything. */
function patientCache(database: Database) {
  let ahead = 0;
  const now = () => performance.now() + ahead;
  return {
    markerCache: new MarkerCache({ keys: database.keys, maxBytes: 64e6, trusted: () => true, now }),
    settle: () => void (ahead += 20_000),
  };
}

/** Areas of all kinds, each seen in several viewports. */
const walkAround = fc.record({
  at: fc.constantFrom(...MARKERS.filter((_, index) => index % 5 === 0).map(({ position }) => position)),
  zoom: fc.integer({ min: 3, max: 16 }),
  steps: fc.array(fc.record({ east: fc.integer({ min: -2, max: 2 }), north: fc.integer({ min: -2, max: 2 }) }), {
    minLength: 2,
    maxLength: 6,
  }),
  first: fc.constantFrom(5, 100, 5_000),
});

describe.each(LAYOUTS)('a cache of markers over the collection $key', ({ style, ...input }) => {
  const database = databases[style];
  const made = makeCollection(database, input, MARKERS);
  const calls = recordCalls(database);

  test('never changes a result while a map is panned and zoomed, and serves from memory what was read before', async () => {
    await made;
    const { markerCache, settle } = patientCache(database);
    settle();
    await fc.assert(
      fc.asyncProperty(walkAround, async ({ at, zoom, steps, first }) => {
        fc.pre(input.key !== 'p4s3' || zoom > 7);
        const width = (1280 / 512 / 2 ** zoom) * 360;
        const height = (800 / 512 / 2 ** zoom) * 180;
        for (const { east, north } of steps) {
          const west = at.lng - width / 2 + (east * width) / 4;
          const south = Math.max(-90, at.lat - height / 2 + (north * height) / 4);
          const bounds = { west, south, east: west + width, north: Math.max(south, Math.min(90, south + height)) };
          const view = readViewport({ bounds, zoom });
          const inside = MARKERS.filter(({ position }) => bruteInside(bounds, position)).map(({ key }) => key);
          for (const again of [false, true]) {
            const { context } = requestContext(database, { markerCache });
            const found: string[] = [];
            let after: string | null = null;
            calls.reset();
            do {
              const page = await viewportMarkers(context, view, input.key, { first, after });
              found.push(...page.edges.map(({ node }) => node.key));
              after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
            } while (after !== null && found.length <= inside.length);
            expect(found.toSorted()).toEqual(inside.toSorted());
            if (!again) continue;
            const reads = calls.commands.filter(({ name, input: { IndexName } }) => name === 'Query' && IndexName);
            expect(reads).toEqual([]);
          }
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe('a cache of markers that follows the stream', () => {
  test('shows the writes of any process without reading again', async () => {
    const streams = createStreamsClient(engine());
    const { markerCache, settle } = patientCache(live);
    const cellCache = createCellCache({ maxBytes: 16e6, trusted: () => true, now: () => performance.now() });
    const backend = { database: live, streams, where: '', close: async () => streams.destroy() };
    // On a machine that pauses for seconds, another owner may be assumed, and the cache is cleared.
    let cleared = 0;
    const clear = markerCache.clear.bind(markerCache);
    markerCache.clear = () => {
      cleared++;
      clear();
      settle();
    };
    const cells = keepCells(backend, silentLog, {
      caches: { cellCache, markerCache },
    });
    onTestFinished(async () => {
      await cells.stop();
      streams.destroy();
    });
    // Planned without counts, a map is read in the same ranges whatever it contains.
    const ask = (trusted: boolean) => requestContext(live, { markerCache, cellCache, trusted }).context;
    const collection = await makeCollection(live, { key: 'moving' }, []);
    const calls = recordCalls(live);
    const bounds = { west: 10, south: 50, east: 11, north: 51 };
    const view = readViewport({ bounds, zoom: 9 });
    const next = randomFrom(SEED);
    const positions = new Map<string, { lng: number; lat: number }>();
    const signal = new AbortController().signal;
    await cells.caughtUp(signal);
    settle();
    let filled = -1;
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 20; index++) {
        const key = `m${Math.floor(next() * 40)}`;
        const position = { lng: 9.5 + 2 * next(), lat: 49.5 + 2 * next() };
        const item = newMarkerItem(live, collection, { key, position }, NOW);
        if (positions.has(key)) {
          const { pk, sk } = item;
          await live.client.send(new DeleteCommand({ TableName: live.tables.entities, Key: { pk, sk } }));
          positions.delete(key);
        } else {
          await createMarker(live, collection, { key, position }, NOW, newCall());
          positions.set(key, position);
        }
      }
      await cells.caughtUp(signal);
      const expected = [...positions].filter(([, position]) => bruteInside(bounds, position)).map(([key]) => key);
      calls.reset();
      const { edges } = await viewportMarkers(ask(false), view, 'moving', { first: 100 });
      expect(edges.map(({ node }) => node.key).toSorted()).toEqual(expected.toSorted());
      const reads = calls.commands.filter(({ name, input: { IndexName } }) => name === 'Query' && IndexName);
      if (cleared === filled) expect(reads).toEqual([]);
      else expect(reads.length).toBeGreaterThan(0);
      filled = cleared;
      expect(await viewportCount(ask(true), view, 'moving')).toBe(expected.length);
      const { features } = JSON.parse(String(await viewportFeatures(ask(true), view, 'moving', 100))) as {
        features: { properties: { key: string } }[];
      };
      expect(features.map(({ properties }) => properties.key).toSorted()).toEqual(expected.toSorted());
    }
  });
});
