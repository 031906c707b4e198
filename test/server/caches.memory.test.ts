import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/clock.js';
import { cellRange, fromZ } from '../../src/geo/geohash.js';
import { PackedCluster } from '../../src/geo/packed-cluster.js';
import { HeldRequests } from '../../src/graphql/execution/subscriptions.js';
import { readDocument } from '../../src/graphql/limits/document-limits.js';
import { entityOf } from '../../src/http/entity.js';
import { createKeyspace } from '../../src/keys/keyspace.js';
import { LiveHub } from '../../src/live/hub.js';
import { AreaMemory, ChangeLog } from '../../src/loaders/area-memory.js';
import { blockName, CellCache } from '../../src/loaders/cell-cache.js';
import { CollectionCache } from '../../src/loaders/collection-cache.js';
import { createGeometryCache, LoadedGeometry } from '../../src/loaders/geometry-cache.js';
import { silentLog } from '../../src/log.js';
import { bytesOfClusters } from '../../src/map/cells/kept-clusters.js';
import { featureFormat } from '../../src/map/features.js';
import { bytesOfAnswer } from '../../src/map/tiles/kept-answer.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import type { MapMarker, Properties } from '../../src/model/marker.js';
import { orderedMarker } from '../../src/pages/ordered-marker.js';
import { DirectoryCache } from '../../src/read/from-pages/directory-cache.js';
import { OwnWrites } from '../../src/read/from-pages/own-writes.js';
import { PageCache } from '../../src/read/from-pages/page-cache.js';
import { entriesOfColumns } from '../../src/store/page/page-data.js';
import { CellMemory } from '../../src/stream/cells/memory.js';
import { PageMemory } from '../../src/stream/pages/memory.js';
import { markerRecord } from '../live/records.js';
import { memoryOf } from '../support/heap.js';
import { columnsOf } from '../support/page-services.js';
import { variants } from '../support/rounds.js';

const MB = 1024 * 1024;
/** Of caches whose bound is a parameter. */
const SMALL = 4 * MB;
const now = () => 0;

const each = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));

/** What writers may store in a marker, in the forms that take the most memory for their length. */
const PROPERTIES: Readonly<Record<string, (n: number) => Properties>> = {
  'few properties': (n) => ({ population: n, kind: 'park', url: `https://example.org/${n}` }),
  'no properties': () => ({}),
  'long texts': (n) => ({ text: `${n}${'x'.repeat(30_000)}` }),
  'texts of two bytes a character': (n) => ({ text: `${n}${'漢'.repeat(10_000)}` }),
  'control characters': (n) => ({ text: `${n}${'\u0001'.repeat(5_000)}` }),
  'empty lists': () => ({ list: each(5_000, () => []) }),
  'empty objects': () => ({ list: each(5_000, () => ({})) }),
  'many names': (n) => Object.fromEntries(each(1_000, (index) => [`n${n}_${index}`, 1])),
  'deep nesting': () => ({ list: each(200, () => [[[[[[[[[[1]]]]]]]]]]) }),
};
const marker = (n: number, mapProperties: Properties): MapMarker => ({
  collection: '',
  key: `key${n}`,
  position: { lng: n % 180, lat: n % 80 },
  geohash: 'u3u3u3u3u3',
  name: `marker ${n}`,
  category: null,
  mapVersion: 1,
  mapProperties,
  complete: true,
});

/** Fills a cache with entries until several times its bound has been offered; keeps nothing else. */
interface Filling {
  readonly bound: number;
  readonly entries: number;
  readonly fill: (entries: number) => unknown;
}

const pages = (properties: (n: number) => Properties, perPage: number, entries: number): Filling => ({
  bound: SMALL,
  entries,
  async fill(count) {
    const cache = new PageCache({ maxBytes: SMALL, trusted: () => true, now });
    for (let n = 0; n < count; n++) {
      const made = each(perPage, (index) => orderedMarker(marker(n * perPage + index, properties(n))));
      const columns = columnsOf(made);
      const entries = entriesOfColumns(columns, 'parks');
      const page = { begin: `u${n}`, end: undefined, round: 0, lost: undefined, entries, columns, bytes: 900 };
      cache.keep(page.begin, page, cache.begin(), 'parks');
      const markers = entries.map(({ marker: drawn }) => drawn);
      await cache.texts.join(markers, featureFormat([]), () => Promise.resolve());
    }
    return cache;
  },
});

const ring = (n: number, positions: number, digits: number) => {
  const around = each(positions, (index) => {
    const angle = (2 * Math.PI * index) / positions;
    return [20 * Math.cos(angle) + (n % 60), 20 * Math.sin(angle)].map((degrees) => Number(degrees.toFixed(digits)));
  });
  return [...around, around[0]];
};
const zones = (positions: number, digits: number, entries: number): Filling => ({
  bound: SMALL,
  entries,
  async fill(count) {
    const { geometries } = createGeometryCache({ maxBytes: (SMALL * 4) / 3 });
    for (let n = 0; n < count; n++) {
      const json = Buffer.from(JSON.stringify({ type: 'Polygon', coordinates: [ring(n, positions, digits)] }));
      const geometry = new LoadedGeometry(json, String(n), () => Promise.resolve());
      geometries.set(geometry.sha256, geometry);
      await geometry.cover;
      await geometry.simplified(10);
    }
    return geometries;
  },
});

const KEY = 'k'.repeat(900);
const keys = createKeyspace('readable');
const collection = (n: number): Collection =>
  ({
    key: `c${n}`,
    name: 'x'.repeat(1_000),
    createdAt: '2026-11-21T10:00:00.000Z',
    mapProperties: each(100, (index) => `property${index}${'x'.repeat(50)}`),
  }) as unknown as Collection;

/** Ranges of Z-order, as of the blocks on which an answer depends, or that a batch has changed. */
const rangesOf = (n: number, count: number) => each(count, (index) => cellRange(fromZ(count * (n % 9) + index, 4)));

const FILLINGS: Readonly<Record<string, Filling>> = {
  ...Object.fromEntries(
    Object.entries(PROPERTIES).map(([what, properties]) => {
      const perPage = what.startsWith('few') || what.startsWith('no') ? 20 : 3;
      return [`pages of markers with ${what}`, pages(properties, perPage, perPage === 20 ? 600 : 60)];
    }),
  ),
  'zones of few positions': zones(5, 2, 400),
  'zones of many positions': zones(3_000, 2, 12),
  'zones of many exact positions': zones(3_000, 15, 12),
  'blocks of cells': {
    bound: SMALL,
    entries: 4_000,
    fill(count) {
      const cache = new CellCache({ maxBytes: SMALL, trusted: () => true, now });
      for (let n = 0; n < count; n++) {
        const children = new Map(
          each(n % 33, (child) => [String(child), { count: n, sumLng: n / 7, sumLat: n * 1e7 }]),
        );
        cache.put(blockName('parks', `u${n}`), { parent: `u${n}`, batch: 1, children }, cache.begin());
      }
      return cache;
    },
  },
  'clusters by tile': {
    bound: SMALL,
    entries: 3_000,
    fill(count) {
      const changes = new ChangeLog(now);
      const memory = new AreaMemory({ maxBytes: SMALL, bytesOf: bytesOfClusters, changes, trusted: () => true });
      for (let n = 0; n < count; n++) {
        const clusters = each(n % 10, (index) => {
          const bounds = { west: n / 7, south: n / 9, east: n / 6, north: n / 8 };
          const cells = each((n * index) % 40, (cell) => {
            return { geohash: fromZ(40 * n + cell, 5), count: n, sumLng: n * 1e8 + 1, sumLat: n * 1e7 + index };
          });
          return new PackedCluster({ position: { lng: n / 3, lat: n / 11 }, bounds, count: n, cells });
        });
        memory.put(`parks\n${n}`, clusters, { scope: 'parks', ranges: [] }, memory.moment());
      }
      return memory;
    },
  },
  'empty tiles': {
    bound: SMALL,
    entries: 6_000,
    fill(count) {
      const changes = new ChangeLog(now);
      const memory = new AreaMemory({ maxBytes: SMALL, bytesOf: bytesOfAnswer, changes, trusted: () => true });
      for (let n = 0; n < count; n++) {
        const area = { scope: 'parks', ranges: rangesOf(n, 47) };
        memory.put(`parks\n${n}`, entityOf(Buffer.alloc(0)), area, memory.moment());
      }
      return memory;
    },
  },
  'where markers have changed': {
    bound: SMALL,
    entries: 400,
    fill(count) {
      const changes = new ChangeLog(now);
      for (let n = 0; n < count; n++) changes.changed('parks', rangesOf(n, 1_000));
      return changes;
    },
  },
  'what changed lately': {
    bound: 8 * MB,
    entries: 120_000,
    fill(count) {
      const cache = new CellCache({ maxBytes: SMALL, trusted: () => true, now });
      for (let n = 0; n < count; n++) cache.changed(`${KEY.slice(0, n % 200)}${n}`, n);
      return cache;
    },
  },
  "a server's own writes": {
    bound: 16 * MB,
    entries: 400,
    fill(count) {
      const writes = new OwnWrites(now);
      const properties = Object.values(PROPERTIES);
      for (let n = 0; n < count; n++) {
        const one = marker(n, properties[n % properties.length]?.(n) ?? {});
        writes.add('parks', [{ key: one.key, mapVersion: 1, entry: orderedMarker(one) }]);
      }
      return writes;
    },
  },
  'directories of pages': {
    bound: SMALL,
    entries: 200,
    fill(count) {
      const directories = new DirectoryCache(SMALL);
      for (let n = 0; n < count; n++) {
        const begin = (index: number) => `u${n}::${index}${n % 2 === 0 ? KEY : ''}`;
        const hints = each(100, (index) => ({ begin: begin(index), markers: index, bytes: 900 + index }));
        const part = { begin: `u${n}`, end: `u${n + 1}`, hints };
        directories.put({ scope: 'parks', generation: '1', partition: 'u' }, part);
        directories.pagesOf('u', [part]);
      }
      return directories;
    },
  },
  'partitions without pages': {
    bound: MB,
    entries: 20_000,
    fill(count) {
      const directories = new DirectoryCache(SMALL);
      for (let n = 0; n < count; n++) directories.noteEmpty({ scope: `${KEY}${n}`, generation: '1', partition: 'u' });
      return directories;
    },
  },
  collections: {
    bound: 4 * MB,
    entries: 1_500,
    fill(count) {
      const cache = new CollectionCache({ now });
      for (let n = 0; n < count; n++) cache.set(`c${n}`, structuredClone(collection(n)));
      return cache;
    },
  },
  'blocks that the consumer wrote': {
    bound: SMALL,
    entries: 4_000,
    fill(count) {
      const memory = new CellMemory(SMALL);
      for (let n = 0; n < count; n++) {
        const children = new Map(
          each(n % 33, (child) => [String(child), { count: n, sumLng: n / 7, sumLat: n * 1e7 }]),
        );
        memory.put({ scope: 'parks', parent: `u${n}` }, { batch: n, children });
      }
      return memory;
    },
  },
  'pages that the consumer wrote': {
    bound: 1.25 * SMALL,
    entries: 8_000,
    fill(count) {
      const memory = new PageMemory(SMALL);
      for (let n = 0; n < count; n++) {
        const data = Uint8Array.from({ length: n % 1_000 });
        memory.put('parks', {
          begin: `u${n}${n % 5 === 0 ? KEY : ''}`,
          end: undefined,
          round: 1,
          lost: undefined,
          markers: 1,
          data,
        });
      }
      return memory;
    },
  },
  'live changes, with the last record of each item': {
    bound: 8 * MB + SMALL,
    entries: 30_000,
    fill(count) {
      const clock = { ...systemClock, now, wall: now, bounds: () => ({ earliest: now(), latest: now() }) };
      const hub = new LiveHub({ keys, log: silentLog, clock, memoryBytes: SMALL });
      hub.connected();
      for (let n = 0; n < count; n++) {
        const key = `${n}${n % 3 === 0 ? KEY.slice(0, 500) : ''}`;
        hub.take(markerRecord(keys, { sequence: String(n), key, after: [1, 2], properties: { text: `${n}` } }));
      }
      return hub;
    },
  },
  'requests of subscriptions': {
    bound: 32 * MB,
    entries: 60,
    fill(count) {
      const held = new HeldRequests();
      const kept: unknown[] = [];
      for (let n = 0; n < count; n++) {
        const text = `subscription { markerChanged(collection: "${n}", ${each(1_990, (index) => `a${index}: 1`).join(' ')}) { id } }`;
        const request = { query: `${text}${n}`, variables: { n }, extensions: { junk: each(20_000, () => ({})) } };
        try {
          const document = readDocument(text, DEFAULT_LIMITS);
          held.hold(document, request);
          kept.push([document, request]);
        } catch {
          break;
        }
      }
      return [held, kept];
    },
  },
};

describe.each(variants(Object.entries(FILLINGS), 3))('the cache of %s', (_, { bound, entries, fill }) => {
  test('takes no more memory than it may, whatever is in it', async () => {
    await fill(10);
    const { bytes } = await memoryOf(() => fill(entries));
    // Of small entries, a little is in the tables that lead to them.
    expect(bytes).toBeLessThan(1.1 * bound);
    // Otherwise it would not have been filled.
    expect(bytes).toBeGreaterThan(0.15 * bound);
  });
});
