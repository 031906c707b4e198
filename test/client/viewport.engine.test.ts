import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { createViewport, type Viewport, type ViewportOptions, type ViewportState } from '../../src/client/public.js';
import { holds, levelAt, tileBounds, tileKeys, tilesOver } from '../../src/client/tiles.js';
import { encode } from '../../src/geo/geohash.js';
import { ChangeLog } from '../../src/loaders/area-memory.js';
import { CellCache } from '../../src/loaders/cell-cache.js';
import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { startServer, type LiveServer } from '../http/live-server.js';
import { followChanges, until } from '../live/support.js';
import { makeCollection, realMarkers, type Made } from '../map/fixture.js';
import { interceptCalls } from '../support/faults.js';
import { memoryDatabase } from '../support/memory-store.js';
import { testPages } from '../support/page-services.js';
import { randomFrom } from '../support/random.js';
import { inTurn, variants } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const turn = inTurn(2);
const NOW = '2026-11-21T10:00:00.000Z';
const db = memoryDatabase();
/** A consumer updates the cells of this database; the test writes those of the other one. */
const liveDb = await testDatabase('readable', { stream: true });
const cellCache = new CellCache({ maxBytes: 1_000_000, trusted: () => true, now: () => performance.now() });
const caches = { cellCache, changes: new ChangeLog(() => performance.now()), ...testPages({ trusted: false }) };
/** While set, counts lag behind changes: these are emitted first and counted later. */
let counting: Promise<void> | undefined;
for (const operation of ['BatchExecuteStatement', 'ExecuteTransaction']) {
  interceptCalls(liveDb, operation, async (input, ask) => {
    await counting;
    return ask(input);
  });
}
const heard = followChanges(liveDb, { caches });
const markers = realMarkers(40);
const opened: Viewport[] = [];
let server: LiveServer;
let liveServer: LiveServer;

beforeAll(async () => {
  await makeCollection(db, { key: 'cities' }, markers);
  server = await startServer(db);
  liveServer = await startServer(liveDb, { live: heard.hub, cellCache });
});
afterEach(() => {
  for (const viewport of opened.splice(0)) viewport.close();
  vi.unstubAllGlobals();
});
afterAll(async () => {
  await server.close();
  await liveServer.close();
  await heard.stop();
});

function open(options: Partial<ViewportOptions> = {}) {
  const viewport = createViewport({
    url: `${server.url}/graphql`,
    collection: 'cities',
    debounce: 5,
    live: false,
    explain: true,
    ...options,
  });
  opened.push(viewport);
  return viewport;
}

interface View {
  readonly bounds: { west: number; south: number; east: number; north: number };
  readonly zoom: number;
}

/** The view of a map of 1280x800 px around a position. */
function around(lng: number, lat: number, zoom: number): View {
  const width = (1280 * 360) / (512 * 2 ** zoom);
  const height = ((800 * 360) / (512 * 2 ** zoom)) * Math.cos((lat * Math.PI) / 180);
  return {
    bounds: { west: lng - width / 2, south: lat - height / 2, east: lng + width / 2, north: lat + height / 2 },
    zoom,
  };
}

const rectOf = ({ bounds, zoom }: View) => tilesOver(bounds, zoom, 64, levelAt(zoom));

/** Shows a view and waits until nothing is loading or about to be. */
async function show(viewport: Viewport, { bounds, zoom }: View): Promise<ViewportState> {
  viewport.view(bounds, zoom);
  let quiet = 0;
  await until(() => {
    quiet = viewport.state.loading ? 0 : quiet + 1;
    return quiet > 3;
  });
  expect(viewport.state.error).toBeNull();
  return viewport.state;
}

/** Expects each marker of the tiles either individually or in one cluster, and never twice. */
function expectEachOnce(state: ViewportState, view: View, all: readonly Made[]) {
  const bounds = tileBounds(rectOf(view));
  const drawn = new Map(state.markers.map(({ id, position }) => [id, position]));
  const counts = state.clusters.map(() => 0);
  const clusterOf = new Map<string, number[]>();
  for (const [at, { geohashes }] of state.clusters.entries())
    for (const geohash of geohashes) clusterOf.set(geohash, [...(clusterOf.get(geohash) ?? []), at]);
  const lengths = new Set([...clusterOf.keys()].map(({ length }) => length));
  for (const { key, position } of all) {
    const clusters = new Set([...lengths].flatMap((length) => clusterOf.get(encode(position, length)) ?? []));
    for (const at of clusters) counts[at] = (counts[at] ?? 0) + 1;
    const single = drawn.get(`marker::cities::${encodeURIComponent(key)}`) ?? drawn.get(`marker::cities::${key}`);
    const times = clusters.size + (single ? 1 : 0);
    if (single) expect(single).toEqual(position);
    if (holds(bounds, position)) expect([key, times]).toEqual([key, 1]);
    else expect(times).toBeLessThanOrEqual(1);
  }
  expect(state.clusters.map(({ count }) => count)).toEqual(counts);
}

/** Records the requests to the server. */
function recordRequests(answersAfter = 0) {
  const requests: { readonly variables: Readonly<Record<string, unknown>>; readonly aborted: () => boolean }[] = [];
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const { variables } = JSON.parse(init.body as string) as { variables: Record<string, unknown> };
    requests.push({ variables, aborted: () => init.signal?.aborted === true });
    await new Promise((resolve) => setTimeout(resolve, answersAfter));
    return real(url, init);
  });
  return requests;
}

const boundsOf = ({ variables }: { readonly variables: Readonly<Record<string, unknown>> }) =>
  Object.entries(variables).flatMap(([name, value]) => (/^bounds\d/.test(name) ? [value as View['bounds']] : []));

describe('a viewport', () => {
  test('draws each marker exactly once however the user pans and zooms, and never loads a tile twice', async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const requests = recordRequests();
    const viewport = open({ limit: 120 });
    const random = randomFrom(11);
    const seen = new Set<string>();
    let tiles = 0;
    for (const walk of variants([0, 1, 2, 3, 4, 5], 3)) {
      const zoom = [0, 1.6, 3.2, 5.9, 9, 14][walk] ?? 0;
      const edges = [180, -180, 0, 16.9];
      let lng = walk < 4 ? (edges[walk] ?? 0) : random() * 360 - 180;
      let lat = walk === 3 ? 52.4 : random() * 160 - 80;
      for (let step = 0; step < 4; step++) {
        const view = around(lng, Math.max(-84, Math.min(84, lat)), zoom);
        const state = await show(viewport, view);
        expectEachOnce(state, view, markers);
        const { queries = 0 } = state.answer?.cost ?? {};
        expect(queries).toBeLessThanOrEqual(3 * 64);
        for (const key of tileKeys(rectOf(view))) seen.add(key);
        const far = 300 / 2 ** zoom;
        lng += (random() - 0.5) * far;
        lat += (random() - 0.5) * far * 0.3;
      }
    }
    for (const { variables } of requests) {
      const level = Number(variables['zoom']);
      for (const { west, south, east, north } of boundsOf({ variables })) {
        tiles += Math.round(((east - west) / 360) * 2 ** level) * Math.round(((north - south) / 180) * 2 ** level);
      }
    }
    expect(tiles).toBe(seen.size);
  });

  test('loads nothing while a pan stays within loaded tiles, and only the uncovered tiles after a longer one', async () => {
    const viewport = open();
    const home = around(0.03, 51.5, 9);
    await show(viewport, home);
    const requests = recordRequests();
    const known = new Set(tileKeys(rectOf(home)));
    await show(viewport, around(0.031, 51.5, 9));
    expect(requests).toHaveLength(0);
    const there = around(0.9, 51.5, 9);
    await show(viewport, there);
    const lacking = tileKeys(rectOf(there)).filter((key) => !known.has(key));
    expect(lacking.length).toBeGreaterThan(0);
    expect(requests).toHaveLength(1);
    const tiles = boundsOf(requests[0] ?? { variables: {} }).map(
      ({ west, south, east, north }) => ((east - west) / 360) * 512 * ((north - south) / 180) * 512,
    );
    expect(tiles).toEqual([expect.closeTo(lacking.length, 6)]);
    await show(viewport, home);
    expect(requests).toHaveLength(1);
  });

  test('shows the same cells as one query for all its tiles', async () => {
    const viewport = open({ content: 'cells' });
    await show(viewport, around(10, 50, 5));
    const view = around(14, 52, 5);
    const { cells } = await show(viewport, view);
    const { data } = await server.ask(
      `query ($bounds: BoundsInput!) { viewport(bounds: $bounds, zoom: 5) { cells(collection: "cities") { geohash count } } }`,
      { bounds: tileBounds(rectOf(view)) },
    );
    const drawn = new Map(cells.map(({ geohash, count }) => [geohash, count]));
    expect(data.viewport.cells.length).toBeGreaterThan(50);
    for (const { geohash, count } of data.viewport.cells)
      expect([geohash, drawn.get(geohash)]).toEqual([geohash, count]);
  });

  test('loads all pages of all markers, with a filter', async () => {
    const viewport = open({ content: 'markers', limit: 40, filter: { category: ['PL', 'DE'] } });
    const view = around(14, 52, 6);
    const { markers: drawn } = await show(viewport, view);
    const expected = markers
      .filter(({ category, position }) => ['PL', 'DE'].includes(category) && holds(tileBounds(rectOf(view)), position))
      .map(({ key }) => key);
    expect(expected.length).toBeGreaterThan(80);
    expect(drawn.map(({ key }) => key).toSorted()).toEqual(expected.toSorted());
  });

  test('keeps the previous level while the next one loads, and aborts obsolete requests', async () => {
    const viewport = open({ limit: 60 });
    const { clusters } = await show(viewport, around(10, 50, 4));
    expect(clusters.length).toBeGreaterThan(0);
    const requests = recordRequests(300);
    const during: ViewportState[] = [];
    viewport.subscribe((state) => void during.push(state));
    viewport.view(around(10, 50, 7).bounds, 7);
    await until(() => requests.length > 0);
    viewport.view(around(100, 30, 7).bounds, 7);
    await until(() => requests.length > 1);
    expect(requests.map(({ aborted }) => aborted())).toEqual([true, false]);
    expect(during.filter(({ loading }) => loading).every((state) => state.clusters === clusters)).toBe(true);
    const view = around(100, 30, 7);
    expectEachOnce(await show(viewport, view), view, markers);
  });

  test('returns the zoom at which a cluster splits, and the marker of a cluster of one', async () => {
    const viewport = open({ limit: 20 });
    const { clusters } = await show(viewport, around(10, 50, 4));
    const crowd = clusters.find(({ count }) => count > 30);
    const single = clusters.find(({ count }) => count === 1);
    if (!crowd || !single) throw new Error('the view has both kinds');
    const { zoom } = await viewport.expand(crowd);
    expect(zoom).toBeGreaterThan(4);
    const { marker } = await viewport.expand(single);
    expect(marker?.position.lng).toBeCloseTo(single.position.lng, 5);
    expect(marker?.position.lat).toBeCloseTo(single.position.lat, 5);
  });

  test('keeps its content after an error, reports the error, and retries until the server is back', async () => {
    const viewport = open({ limit: 60 });
    const before = await show(viewport, around(10, 50, 4));
    const real = globalThis.fetch;
    let isDown = true;
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      if (isDown) throw new TypeError('fetch failed');
      return real(url, init);
    });
    const view = around(60, 50, 4);
    viewport.view(view.bounds, view.zoom);
    await until(() => viewport.state.error !== null);
    expect(viewport.state.error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(before.clusters.some((cluster) => viewport.state.clusters.includes(cluster))).toBe(true);
    isDown = false;
    await until(() => viewport.state.error === null && !viewport.state.loading);
    expectEachOnce(viewport.state, view, markers);
  });

  test('reports a missing collection, and does not retry', async () => {
    const requests = recordRequests();
    const viewport = open({ collection: 'nothing' });
    viewport.view(around(0, 0, 3).bounds, 3);
    await until(() => viewport.state.error !== null);
    expect(viewport.state.error).toMatchObject({ code: 'NOT_FOUND' });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(requests).toHaveLength(1);
  });
});

describe('live changes', () => {
  const here = { west: 16, south: 52, east: 17, north: 53 };
  const cars = testCollection(liveDb, { key: 'cars', name: 'Cars' }, NOW);
  const create = async (key: string, lng: number, lat: number) =>
    createMarker(newCall(liveDb), await cars, { key, position: { lng, lat } }, NOW);
  const follow = (options: Partial<ViewportOptions> = {}) => {
    vi.stubGlobal('WebSocket', WebSocket);
    return open({ url: `${liveServer.url}/graphql`, collection: 'cars', live: true, ...options });
  };

  /** Waits until the server knows all changes of this time: without them, a viewport that connects loads again. */
  const knownSince = (milliseconds: number) =>
    until(async () => ((await heard.hub.recentFrom()) ?? Infinity) < Date.now() - milliseconds);

  test('show what other clients create, move and delete, without a new request', async () => {
    await knownSince(5_000);
    await create('still', 16.1, 52.1);
    const viewport = follow();
    viewport.view(here, 9);
    await until(() => viewport.state.markers.length === 1);
    // If connecting takes long, everything is loaded again when the connection is up.
    await create('first', 16.2, 52.2);
    await until(() => viewport.state.markers.length === 2 && !viewport.state.loading);
    const requests = recordRequests();
    await create('a', 16.5, 52.5);
    await until(() => viewport.state.markers.length === 3);
    await liveServer.ask(
      `mutation { updateMarker(input: { id: "marker::cars::a", position: { lng: 16.6, lat: 52.6 } }) { id } }`,
    );
    await until(() => viewport.state.markers.some(({ position }) => position.lng === 16.6));
    expect(viewport.state.markers).toHaveLength(3);
    await liveServer.ask(`mutation { deleteMarker(id: "marker::cars::a") { id } }`);
    await until(() => viewport.state.markers.length === 2);
    expect(requests.filter(({ variables }) => 'bounds0' in variables)).toHaveLength(0);
  });

  test('show what changed before the subscription once it is up, without a second request', async () => {
    await knownSince(5_000);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    class HeldSocket extends WebSocket {
      override send(text: string) {
        void released.then(() => super.send(text));
      }
    }
    const late = follow();
    vi.stubGlobal('WebSocket', HeldSocket);
    late.view(here, 9);
    await until(() => late.state.markers.some(({ key }) => key === 'still'));
    const other = follow();
    other.view(here, 9);
    await until(() => other.state.markers.some(({ key }) => key === 'still'));
    const requests = recordRequests();
    await create('meanwhile', 16.3, 52.3);
    await until(() => other.state.markers.some(({ key }) => key === 'meanwhile'));
    expect(late.state.markers.some(({ key }) => key === 'meanwhile')).toBe(false);
    release();
    await until(() => late.state.markers.some(({ key }) => key === 'meanwhile'));
    expect(requests).toEqual([]);
  });

  test('never show a marker where it was, while a new subscription repeats its changes one by one', async () => {
    const delivered: string[] = [];
    /** It receives changes so slowly that the viewport draws between two of them. */
    class SlowSocket extends WebSocket {
      #last = Promise.resolve();
      override emit(event: string, ...values: unknown[]): boolean {
        if (event !== 'message') return super.emit(event, ...values);
        this.#last = this.#last.then(() => new Promise((resolve) => setTimeout(resolve, 80)));
        void this.#last.then(() => super.emit(event, ...values) && delivered.push(String(values[0])));
        return true;
      }
    }
    await knownSince(5_000);
    const viewport = follow();
    vi.stubGlobal('WebSocket', SlowSocket);
    viewport.view(here, 9);
    await until(() => viewport.state.markers.some(({ key }) => key === 'still'));
    const shown = () => viewport.state.markers.find(({ key }) => key === 'moving')?.position.lng;
    const input = (lng: number) => `position: { lng: ${lng}, lat: 52.4 }`;
    const creation = (lng: number) => `mutation { createMarker(input: { collection: "cars", key: "moving", ${input(lng)} }) { id } }`; // prettier-ignore
    await liveServer.ask(creation(16.4));
    await until(() => shown() === 16.4);
    for (const lng of [16.5, 16.6])
      await liveServer.ask(`mutation { updateMarker(input: { id: "marker::cars::moving", ${input(lng)} }) { id } }`);
    await liveServer.ask(`mutation { deleteMarker(id: "marker::cars::moving") { id } }`);
    await liveServer.ask(creation(16.7));
    await until(() => shown() === 16.7 && !viewport.state.loading);
    const during = new Set<number | undefined>();
    viewport.subscribe(() => void during.add(shown()));
    // Beyond the surroundings of the former view, which it overlaps.
    viewport.view({ west: 14, south: 52, east: 17, north: 53 }, 9);
    await liveServer.ask(`mutation { createMarker(input: { collection: "cars", key: "last", position: { lng: 14.1, lat: 52.5 } }) { id } }`); // prettier-ignore
    await until(() => delivered.at(-1)?.includes('"last"') === true && !viewport.state.loading);
    expect([...during]).toEqual([16.7]);
    for (const key of ['moving', 'last']) await liveServer.ask(`mutation { deleteMarker(id: "marker::cars::${key}") { id } }`); // prettier-ignore
  });

  test('show a marker that was emitted before the viewport subscribed and is counted later', async () => {
    const there = { west: -70, south: -20, east: -69, north: -19 };
    const isHere = ({ state }: Viewport) => state.markers.some(({ key }) => key === 'uncounted');
    const first = follow();
    first.view(there, 9);
    await until(() => first.state.answer !== null);
    let count: () => void = () => undefined;
    counting = new Promise((resolve) => {
      count = resolve;
    });
    onTestFinished(() => {
      counting = undefined;
      count();
    });
    await create('uncounted', -69.5, -19.5);
    await until(() => isHere(first));
    const second = follow();
    second.view(there, 9);
    await until(() => second.state.answer !== null);
    await until(() => isHere(second));
    expect(second.state.markers.map(({ key }) => key)).toEqual(['uncounted']);
  });

  test('update clusters', async () => {
    const viewport = follow({ limit: 3 });
    viewport.view(here, 9);
    await until(() => viewport.state.markers.length > 0);
    for (let n = 0; n < 5; n++) await create(`c${n}`, 16.2 + n / 1e4, 52.2);
    await until(() => viewport.state.clusters.reduce((sum, { count }) => sum + count, 0) === 8);
    expect(viewport.state.markers).toHaveLength(0);
  });
});
