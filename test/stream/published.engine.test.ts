import { afterAll, beforeAll, expect, test } from 'vitest';

import { canonicalLng } from '../../src/geo/bounds.js';
import { addSums, NO_SUMS, sumsOf, type CellSums } from '../../src/geo/cell-sums.js';
import { encode } from '../../src/geo/geohash.js';
import { interpreting } from '../../src/graphql/execution/executor.js';
import { notedPages, storedReport } from '../../src/server/consumer.js';
import { createServices } from '../../src/server/services.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { putRecentWrites } from '../../src/store/page/recent-writes.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { mapConcurrently } from '../../src/store/request/pacing.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import type { LoadPolicy } from '../../src/stream/consume/flood.js';
import type { PagesPort, RecentPort } from '../../src/stream/ports.js';
import { startServer, type LiveServer } from '../http/live-server.js';
import { until } from '../live/support.js';
import { randomFrom } from '../support/random.js';
import { someOf } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { streamParts } from './support.js';

const NOW = '2026-11-21T10:00:00.000Z';
const COUNT = 300;
/** Markers that only move; the others are deleted and created again. */
const STAY = 220;
const WRITES = 4 * someOf(200);
/** Maps are two seconds old at most, and a busy machine takes its time to write, read and answer. */
const OLDEST_MS = 5_000;
/** Some requests take place one after another until a write is shown. */
const REQUESTS = 8;
/** The longest that a write took so far: on a machine that does other work, each takes as long. */
let longestMs = 0;
const oldestMs = () => Math.max(OLDEST_MS, REQUESTS * longestMs);

const db = await testDatabase('readable', { stream: true });
const random = randomFrom(20_261_128);
/** On both sides of the antimeridian and of a line between two partitions of pages. */
const somewhere = () => ({
  lng: (random() < 0.5 ? 180 : -178) - random() * 2,
  lat: -1 + Math.round(random() * 200) / 100,
});

// Once anything was written, batches wait for as long as more is written.
let isDriven = false;
const load: LoadPolicy = {
  blocks: 1,
  // Writers of a busy machine may pause for a second.
  get recordsPerSecond() {
    return isDriven ? 0 : 1;
  },
  growth: Infinity,
  waitMs: 3_600_000,
  firstLoad: { blocks: Infinity, waitMs: 0, fromRestMs: 0 },
};

/** A consumer as a process of its own; with a time in ms that each write of pages takes, its batches do not wait. */
function start(writeMs = 0) {
  const parts = streamParts(db);
  const slow = (pages: PagesPort): PagesPort => ({
    ...pages,
    write: async (replacements) => {
      await new Promise((resolve) => setTimeout(resolve, writeMs));
      return pages.write(replacements);
    },
  });
  const { own } = owner.pageServices.recent;
  const put: RecentPort['put'] = async (scope, as, part) => {
    const items = await putRecentWrites(newCall(db), { scope, ...as }, part, own);
    if (random() < 0.1) throw new Error('the answer is lost');
    return items;
  };
  const open = (generation: string) => notedPages(slow(parts.pages.open(generation)), generation, pageCache);
  const consumer = new Consumer({
    ...parts,
    pages: { ...parts.pages, open, recent: { put } },
    onOwnership: () => (pageCache.clear(), cellCache.clear()),
    onApplied: (batch, changes) => cellCache.applied(batch, changes),
    ...(writeMs > 0 ? {} : { load }),
  });
  const stopping = new AbortController();
  const running = consumer.run(stopping.signal);
  const stop = () => (stopping.abort(), running);
  return { status: () => consumer.status(), stop };
}

/** Of the server whose consumer it is, and of another one. */
const owner = createServices(db, { consumerStatus: () => consumer.status(), storedReport: () => storedReport(db) });
const other = createServices(db, { consumerStatus: () => undefined, storedReport: () => storedReport(db) });
const { pageCache } = owner.pageServices;
const { cellCache } = owner;
let consumer = start();
const servers: LiveServer[] = [];

interface Position {
  readonly lng: number;
  readonly lat: number;
}

interface Shown {
  readonly shown: string | null;
  readonly position: Position | null;
  readonly from: number;
  to: number;
}

/** A marker's positions, each with when it was written and when it was replaced, by the clock of this process. */
const histories = new Map<string, Shown[]>();
/** The same of each cell: how many markers it has, and their centroid. Writes made together leave gaps in it. */
const cells = new Map<string, { readonly shown: string; to: number }[]>();
const sums = new Map<string, CellSums>();
const PRECISION = 3;
let togetherUntil = 0;

/** Of the same quotient in degrees for both, as it may end with a half. */
const micro = (degrees: number) => Math.round(degrees * 1e6);

/** What a cell shows: its count, and its centroid in millionths of a degree. */
const shownOf = ({ count, sumLng, sumLat }: CellSums) =>
  count === 0 ? 'nothing' : `${count} at ${micro(sumLng / count / 1e6)} ${micro(sumLat / count / 1e6)}`;

/** Every third marker is in the same place, which has counts only. */
const placeOf = (key: string) => `place ${Number(key.slice(1)) % 3}`;

/** Notes what cells and places show from now on; returns how to note that they no longer show what they did. */
function noteCells(key: string, left: Position | null, reached: Position | null): () => void {
  const replaced: { to: number }[] = [];
  const change = ({ lng, lat }: Position, sign: 1 | -1) => {
    const cell = encode({ lng: canonicalLng(lng), lat }, PRECISION);
    const { sumLng, sumLat } = sumsOf({ lng, lat });
    sums.set(cell, addSums(sums.get(cell) ?? NO_SUMS, { count: sign, sumLng: sign * sumLng, sumLat: sign * sumLat }));
    sums.set(placeOf(key), addSums(sums.get(placeOf(key)) ?? NO_SUMS, { ...NO_SUMS, count: sign }));
    return [cell, placeOf(key)];
  };
  for (const cell of new Set([...(left ? change(left, -1) : []), ...(reached ? change(reached, 1) : [])])) {
    const history = cells.get(cell) ?? [{ shown: 'nothing', to: Infinity }];
    cells.set(cell, history);
    replaced.push(...history.slice(-1));
    history.push({ shown: shownOf(sums.get(cell) ?? NO_SUMS), to: Infinity });
  }
  return () => {
    for (const one of replaced) one.to = Date.now();
  };
}

async function write(key: string, position: Position | null, run: () => Promise<unknown>) {
  const history = histories.get(key) ?? [];
  histories.set(key, history);
  const from = Date.now();
  const before = history.at(-1);
  const isReplaced = noteCells(key, before?.position ?? null, position);
  history.push({ position, shown: position && `${position.lng} ${position.lat}`, from, to: Infinity });
  await run();
  longestMs = Math.max(longestMs, Date.now() - from);
  if (before) before.to = Date.now();
  isReplaced();
}

beforeAll(async () => {
  const collection = await testCollection(db, { key: 'cars', name: 'Cars' }, NOW);
  const markers = Array.from({ length: COUNT }, (_, index) => {
    const key = `k${index}`;
    return { key, position: somewhere(), place: [placeOf(key)] };
  });
  // Maps may show for a while that there were none.
  for (const { key } of markers) await write(key, null, () => Promise.resolve());
  await createMarkers(newCall(db), collection, markers, NOW);
  for (const { key, position } of markers) await write(key, position, () => Promise.resolve());
  togetherUntil = Date.now();
  for (const { pageServices, trust, cellCache, consumerStatus } of [owner, other]) {
    const parts = { pageServices, trust, cellCache, status: () => consumerStatus() };
    // Two executors would compare maps that change between them.
    servers.push(await startServer(db, { ...parts, executor: interpreting }));
  }
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await consumer.stop();
});

const NODE = '{ key position { lng lat } }';
const MAP = `query ($after: String) { found: viewport(bounds: { west: 177, south: -2, east: -177, north: 2 }, zoom: 6) {
  markers(collection: "cars", first: 5000, after: $after) { nodes ${NODE} pageInfo { hasNextPage endCursor } } } }`;
const NEAR = `query ($after: String) { found: collection(key: "cars") {
  markers: within(center: { lng: 180, lat: 0 }, radius: 2e6, first: 5000, after: $after) {
    edges { node ${NODE} } pageInfo { hasNextPage endCursor } } } }`;

const CELLS = `{ found: viewport(bounds: { west: 177, south: -2, east: -177, north: 2 }, zoom: 6) {
  cells(collection: "cars", precision: ${PRECISION}) { geohash count centroid { lng lat } } }
  cars: collection(key: "cars") { places { name count } } }`;

interface ShownCell {
  readonly geohash: string;
  readonly count: number;
  readonly centroid: Position;
}

/** The markers that a query lists, by key, and what they were read from. */
async function listed(server: LiveServer, query: string) {
  const nodes: { key: string; position: { lng: number; lat: number } }[] = [];
  const sources = new Set<unknown>();
  for (let after: string | null = null; ;) {
    const { data, errors, extensions } = await server.ask(query, { after }, { 'x-cellport-cost': '1' });
    expect(errors).toEqual([]);
    const { nodes: some, edges = [], pageInfo } = data.found.markers;
    nodes.push(...(some ?? edges.map(({ node }: { node: unknown }) => node)));
    sources.add((extensions?.['cost'] as { markersFrom: unknown } | undefined)?.markersFrom);
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  const shown = new Map(nodes.map(({ key, position: { lng, lat } }) => [key, `${lng} ${lat}`]));
  // The Query calls on the index are not one read: a marker that moves meanwhile may be in none of them, or in two.
  const isOneRead = !sources.has('INDEX') && !sources.has('BOTH');
  if (isOneRead) expect(shown.size).toBe(nodes.length);
  return { shown, sources, isOneRead };
}

/** Cells that are not shown as they were at a time or later. */
async function wrongCells(server: LiveServer, since: number): Promise<string[]> {
  const { data, errors } = await server.ask(CELLS);
  expect(errors).toEqual([]);
  const { cells: some } = data.found as { readonly cells: readonly ShownCell[] };
  const { places } = data.cars as { readonly places: readonly { readonly name: string; readonly count: number }[] };
  const shown = new Map(
    some.map(({ geohash, count, centroid: { lng, lat } }) => [geohash, `${count} at ${micro(lng)} ${micro(lat)}`]),
  );
  for (const { name, count } of places) shown.set(name, `${count} at 0 0`);
  return [...cells].flatMap(([cell, history]) => {
    const found = shown.get(cell) ?? 'nothing';
    const may = history.filter(({ to }) => to >= since).map((one) => one.shown);
    return may.includes(found) ? [] : [`${cell} shows ${found}, not ${may.join(' or ')}`];
  });
}

/** Markers that are not shown as they were at a time or later. */
function wrong(shown: ReadonlyMap<string, string>, since: number): string[] {
  return [...histories].flatMap(([key, history]) => {
    const found = shown.get(key) ?? null;
    const may = history.filter(({ to }) => to >= since).map((one) => one.shown);
    return may.includes(found) ? [] : [`${key} is shown at ${found}, not at ${may.join(' or ')}`];
  });
}

/** Moves, deletes and creates markers, while all servers are asked for maps; returns what these were read from. */
async function drive(during: () => Promise<unknown> = () => Promise.resolve()): Promise<ReadonlySet<unknown>> {
  const collection = await createdCollection();
  let writing = true;
  isDriven = true;
  const used = new Set<unknown>();
  const writer = async () => {
    for (let n = 0; n < WRITES || (!used.has('PAGES') && n < 10 * WRITES); n += 1) {
      const index = Math.floor(random() * COUNT);
      const [key, position] = [`k${index}`, somewhere()];
      const call = newCall(db);
      if (index < STAY) {
        await write(key, position, () => updateMarker(call, { collection, key }, { position }, { now: NOW }));
        continue;
      }
      await write(key, null, () => deleteMarker(call, { collection, key }, { now: NOW }));
      await write(key, position, () =>
        createMarkers(call, collection, [{ key, position, place: [placeOf(key)] }], NOW),
      );
    }
    writing = false;
  };
  const reader = async (server: LiveServer) => {
    while (writing) {
      for (const query of [MAP, NEAR]) {
        const since = Date.now() - oldestMs();
        const { shown, sources, isOneRead } = await listed(server, query);
        for (const source of sources) used.add(source);
        if (isOneRead) expect(wrong(shown, since)).toEqual([]);
        const cellsSince = Date.now() - oldestMs();
        if (sources.has('PAGES') && cellsSince > togetherUntil)
          expect(await wrongCells(server, cellsSince)).toEqual([]);
      }
    }
  };
  try {
    await Promise.all([writer(), ...servers.map(reader), during()]);
  } finally {
    isDriven = false;
  }
  return used;
}

const maps = () => Promise.all(servers.map((server) => listed(server, MAP)));

test('maps come from pages, with what a waiting batch has published, each marker once and as it is', async () => {
  await until(async () => (await maps()).every(({ sources }) => sources.has('PAGES')));
  const { batch } = consumer.status();
  expect(await drive()).toContain('PAGES');
  // At most the batch that was planned before the first write.
  expect(consumer.status().batch).toBeLessThanOrEqual(batch + 1);
  const { from = 0, to = 0, began } = consumer.status().published ?? {};
  expect(to).toBeGreaterThan(0);
  // Its owner need not read what it has published.
  const { recent } = owner.pageServices;
  expect(recent.own.of('cars', from, to, began?.version ?? 0)?.length).toBeGreaterThan(0);

  // The batch no longer waits: the pages themselves are exact.
  await until(() => consumer.status().batch > batch);
  await until(async () => (await maps()).every(({ shown }) => wrong(shown, Date.now()).length === 0));
});

test('another consumer goes on in the middle', async () => {
  const [first, second] = [consumer, start()];
  await drive(async () => {
    const before = first.status().published?.to ?? 0;
    await until(() => (first.status().published?.to ?? 0) > before);
    await first.stop();
    consumer = second;
    await until(() => second.status().owner);
  });
  expect(second.status().owner).toBe(true);
  await until(async () => (await maps()).every(({ shown }) => wrong(shown, Date.now()).length === 0));
});

test('what a batch applies slowly is published, too', async () => {
  await consumer.stop();
  consumer = start(3_000);
  await until(() => consumer.status().behindMs !== undefined);
  // From rest, a batch of many.
  const collection = await createdCollection();
  const burst = Array.from({ length: STAY }, (_, index) => ({ key: `k${index}`, position: somewhere() }));
  await mapConcurrently(burst, 20, ({ key, position }) =>
    write(key, position, () => updateMarker(newCall(db), { collection, key }, { position }, { now: NOW })),
  );
  togetherUntil = Date.now();
  expect(await drive()).toContain('PAGES');
  expect(consumer.status().published?.to).toBeGreaterThan(0);
  await until(async () => (await maps()).every(({ shown }) => wrong(shown, Date.now()).length === 0));
});

async function createdCollection() {
  const [collection] = await getCollections(newCall(db), ['cars']);
  if (!collection) throw new Error('there is no collection');
  return collection;
}
