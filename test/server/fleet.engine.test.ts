import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { startConsumer, storedReport, type DerivedData } from '../../src/server/consumer.js';
import { createServices, type ServerServices } from '../../src/server/services.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import type { Meter } from '../../src/store/request/meter.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { startServer, type LiveServer } from '../http/live-server.js';
import { until } from '../live/support.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const COUNT = 600;
/** Markers that exist throughout; some of them move, the others are deleted and created again. */
const STAY = 450;
const ROUNDS = someOf(12);

const db = await testDatabase('readable', { stream: true, waitsForDisk: true });
const streams = createStreamsClient(engine());
const backend = { database: db, streams };
const random = randomFrom(20_261_122);
/** In two partitions of pages, and also on the line between them. */
const somewhere = () => ({ lng: Math.round(random() * 800 - 400) / 100, lat: 48 + Math.round(random() * 400) / 100 });
let cells: DerivedData;
let owner: LiveServer;
let other: LiveServer;

/** A server that maintains the pages, or another one on the same tables. */
function servicesOf(status?: () => ReturnType<DerivedData['status']>): ServerServices {
  const consumerStatus = status ?? (() => undefined);
  return createServices(backend.database, { consumerStatus, storedReport: () => storedReport(backend.database) });
}

beforeAll(async () => {
  const services = servicesOf(() => cells.status());
  cells = startConsumer(backend, silentLog, { caches: services });
  const { pageServices, trust, cellCache } = services;
  owner = await startServer(db, { pageServices, trust, cellCache, status: () => cells.status() });
  const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, NOW);
  const markers = Array.from({ length: COUNT }, (_, index) => ({ key: `k${index}`, position: somewhere() }));
  for (const some of [markers.slice(0, 400), markers.slice(400)])
    await createMarkers(newCall(db), collection, some, NOW);
  await cells.caughtUp(new AbortController().signal);
  const caches = servicesOf();
  other = await startServer(db, {
    pageServices: caches.pageServices,
    trust: caches.trust,
    cellCache: caches.cellCache,
    status: () => undefined,
  });
});
afterAll(async () => {
  await Promise.all([owner.close(), other.close()]);
  await cells.stop();
  streams.destroy();
});

const MAP = `query ($after: String) { viewport(bounds: { west: -5, south: 47, east: 5, north: 53 }, zoom: 6) {
  markers(collection: "parks", first: 5000, after: $after) { nodes { key position { lng lat } } pageInfo { hasNextPage endCursor } }
} }`;

/** The markers on a server's map, and what they were read from. */
async function map(server: LiveServer) {
  const nodes: { key: string; position: { lng: number; lat: number } }[] = [];
  const sources = new Set<unknown>();
  for (let after: string | null = null; ;) {
    const { data, errors, extensions } = await server.ask(MAP, { after }, { 'x-cellport-cost': '1' });
    expect(errors).toEqual([]);
    nodes.push(...data.viewport.markers.nodes);
    sources.add((extensions?.['cost'] as { markersFrom: unknown } | undefined)?.markersFrom);
    const { hasNextPage, endCursor } = data.viewport.markers.pageInfo;
    if (!hasNextPage) return { nodes, sources };
    after = endCursor;
  }
}

test('every server of a fleet shows each marker exactly once at every moment, from pages', async () => {
  const { signal } = new AbortController();
  await until(async () => (await map(owner)).sources.has('PAGES') && (await map(other)).sources.has('PAGES'));
  const collection = await createdCollection();
  let writing = true;
  const write = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const moves = Array.from({ length: 12 }, () => Math.floor(random() * STAY));
      for (const index of new Set(moves)) {
        const reference = { collection, key: `k${index}` };
        await updateMarker(newCall(db), reference, { position: somewhere() }, { now: NOW });
      }
      const again = Array.from({ length: 6 }, () => STAY + Math.floor(random() * (COUNT - STAY)));
      for (const index of new Set(again)) {
        await deleteMarker(newCall(db), { collection, key: `k${index}` }, { now: NOW });
        await createMarkers(newCall(db), collection, [{ key: `k${index}`, position: somewhere() }], NOW);
      }
      const more = Array.from({ length: 8 }, (_, at) => ({ key: `r${round} ${at}`, position: somewhere() }));
      await createMarkers(newCall(db), collection, more, NOW);
    }
    writing = false;
  };
  const used = new Set<unknown>();
  const read = async (server: LiveServer) => {
    for (; writing; await sleep(20)) {
      const { nodes, sources } = await map(server);
      const keys = nodes.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      for (const source of sources) used.add(source);
      // The Query calls on the index are not one read: a marker that moves from a later one to an earlier one is in
      // neither.
      if (sources.has('INDEX') || sources.has('BOTH')) continue;
      const shown = new Set(keys);
      expect(Array.from({ length: STAY }, (_, index) => `k${index}`).filter((key) => !shown.has(key))).toEqual([]);
    }
  };
  await Promise.all([write(), read(owner), read(other)]);
  expect(used).toContain('PAGES');

  await cells.caughtUp(signal);
  const inIndex = await startServer(db, { status: () => undefined });
  try {
    const sorted = ({ nodes }: Awaited<ReturnType<typeof map>>) =>
      nodes.map(({ key, position: { lng, lat } }) => `${key} ${lng} ${lat}`).sort();
    const expected = sorted(await map(inIndex));
    expect(expected).toHaveLength(COUNT + 8 * ROUNDS);
    for (const server of [owner, other]) {
      await until(async () => (await map(server)).sources.has('PAGES'));
      await expect.poll(async () => sorted(await map(server)), { timeout: 5_000 }).toEqual(expected);
    }
  } finally {
    await inIndex.close();
  }
});

test('a server that does not maintain the pages reads again only those that were written', async () => {
  const collection = await createdCollection();
  await cells.caughtUp(new AbortController().signal);
  const position = { lng: 1.234, lat: 50.123 };
  const shown = async () => {
    const { data, extensions } = await other.ask(MAP, {}, { 'x-cellport-cost': '1' });
    const { markersFrom, cacheHits, readUnits } = (extensions ?? {})['cost'] as Meter;
    const { lng } = data.viewport.markers.nodes.find((node: { key: string }) => node.key === 'k7').position;
    return { markersFrom, cacheHits, readUnits, isMoved: lng === position.lng };
  };
  await until(async () => (await shown()).readUnits === 0);
  const { cacheHits: pages, ...warm } = await shown();
  expect(warm).toEqual({ markersFrom: 'PAGES', readUnits: 0, isMoved: false });
  expect(pages).toBeGreaterThan(4);
  await updateMarker(newCall(db), { collection, key: 'k7' }, { position }, { now: NOW });
  const read: Awaited<ReturnType<typeof shown>>[] = [];
  await until(async () => {
    read.push(await shown());
    return read.at(-1)?.isMoved === true && read.at(-1)?.readUnits === 0;
  });
  // The page that it has left, and the one that it is in.
  expect(Math.min(...read.map(({ cacheHits }) => cacheHits))).toBe(pages - 2);
});

async function createdCollection() {
  const [collection] = await getCollections(newCall(db), ['parks']);
  if (!collection) throw new Error('there is no collection');
  return collection;
}
