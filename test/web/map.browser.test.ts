import { setTimeout as sleep } from 'node:timers/promises';
import { parse, validate } from 'graphql';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { openCities } from '../../src/ingest/markers/cities.js';
import { openCountries } from '../../src/ingest/zones/countries.js';
import { BUILT_FILES } from '../../src/server/services.js';
import * as documents from '../../web/map/api/documents.js';
import { inTurn, rounds } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';
import { accessibilityFaults } from './accessibility.js';
import {
  afterTimers,
  collectFaults,
  differingPixels,
  drawSlowly,
  expectSoon,
  hasChromium,
  keep,
  openBrowser,
  shoot,
  SMALL,
} from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';
import { serveOwnTiles } from './own-tiles.js';

interface City {
  readonly key: string;
  readonly name: string;
  readonly category: string;
  readonly position: { readonly lng: number; readonly lat: number };
  readonly properties: Readonly<Record<string, unknown>>;
}

const { CREATE, DELETE, DETAILS, UPDATE } = documents;
/** The largest of the world. */
const CITIES = 600;
const LONDON = '2643743';

async function readCities(): Promise<City[]> {
  const { rows } = openCities(CITIES);
  const cities: City[] = [];
  for await (const page of rows.scan()) {
    for (const { content } of page) {
      const { key, name, category, position, properties } = content as City;
      cities.push({ key, name, category, position, properties });
    }
  }
  return cities;
}

describe('the documents of the map page', () => {
  it('are valid', () => {
    const schema = buildSchema();
    for (const text of Object.values(documents)) {
      expect([text, ...validate(schema, parse(text))]).toEqual([text]);
    }
  });
});

const MOVING = { reducedMotion: 'no-preference' } as const;

/**
 * What the page exposes to the console: its map and its layers. Its methods return the map, which the page would spend
 * seconds turning into an answer: hence `void`.
 */
const HANDLE = 'globalThis.cellport';

describe.skipIf(!hasChromium)('the map page in a browser', async () => {
  /** Tests of what the page shows, each of which takes seconds, take turns. */
  const turn = inTurn(4);
  const db = await testDatabase('readable', { stream: true, waitsForDisk: true });
  const cities = await readCities();
  const searchFolder = temporaryFolder();
  const elsewhere: string[] = [];
  const faults: string[] = [];
  let server: MapServer;
  let browser: Browser;

  /**
   * Opens the page with a hash, and collects its requests to other hosts and its errors. Without a graphics card each
   * frame and each pixel takes long, so most tests use less motion and a low resolution.
   */
  async function open(hash = '', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await load(hash, options);
    await settled(page);
    return page;
  }

  /** Like `open`, without waiting for the map; requests whose URL matches `failing` get no response. */
  async function load(hash: string, options: Parameters<Browser['newContext']>[0], failing?: string): Promise<Page> {
    const context = await browser.newContext({ ...SMALL, reducedMotion: 'reduce', ...options });
    await drawSlowly(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('request', (request) => {
      if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith('blob:'))
        elsewhere.push(request.url());
    });
    page.on('websocket', (socket) => {
      if (!socket.url().startsWith(server.url.replace('http', 'ws'))) elsewhere.push(socket.url());
    });
    collectFaults(page, faults);
    if (failing !== undefined) await page.route(failing, (route) => route.abort());
    await page.goto(`${server.url}/${hash}`);
    return page;
  }

  let shared: Page | undefined;
  /**
   * Shows a hash in the page shared by most tests, because opening one takes seconds. Tests leave nothing open in it.
   */
  async function show(hash: string, reducedMotion: 'reduce' | 'no-preference' = 'reduce'): Promise<Page> {
    if (shared === undefined) shared = await open(hash);
    else await shared.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await shared.emulateMedia({ reducedMotion });
    await settled(shared);
    return shared;
  }

  /** Waits until the map is idle and every response is drawn. */
  async function settled(page: Page): Promise<void> {
    await expectSoon(
      page,
      `${HANDLE}?.layers.length > 0 && !${HANDLE}.map.isMoving() && !document.querySelector('#progress').matches('.on')`,
    );
    // Requests start a tenth of a second after the last move.
    await afterTimers(page, 250);
    await expectSoon(page, `!document.querySelector('#progress').matches('.on') && ${HANDLE}.map.loaded()`);
  }

  /** Names of the markers actually drawn on the screen. */
  const drawnNames = (page: Page) =>
    page.evaluate<string[]>(`(() => {
      const { map, layers } = ${HANDLE};
      const on = layers.flatMap((layer) => layer.mapLayers).filter((id) => id.endsWith('/markers'));
      const found = map.queryRenderedFeatures({ layers: on }).map(({ properties }) => properties.name);
      return [...new Set(found)].toSorted();
    })()`);

  /** The screen coordinates of a position. */
  const project = (page: Page, { lng, lat }: City['position']) =>
    page.evaluate<{ x: number; y: number }>(`(({ x, y }) => ({ x, y }))(${HANDLE}.map.project([${lng}, ${lat}]))`);

  const city = (key: string) => cities.find((each) => each.key === key)!;
  /** Readings of London, one per hour. */
  const recordHours = (from: number, to: number) => {
    const readings = Array.from({ length: to - from }, (_, index) => from + index).map((hour) => ({
      at: new Date(Date.UTC(2026, 10, 20) + hour * 3_600_000).toISOString(),
      values: { temperature: 9 + 4 * Math.sin(hour / 4), humidity: 70 - 12 * Math.sin(hour / 4 + 1), sky: 'overcast' },
    }));
    return server.ask(`mutation ($readings: [ReadingInput!]!) { recordReadings(marker: "marker::cities::${LONDON}", readings: $readings) }`, { readings }); // prettier-ignore
  };
  const readLondon = async () => (await server.ask(DETAILS, { id: `marker::cities::${LONDON}` })).marker;

  beforeAll(async () => {
    [server, browser] = await Promise.all([startMapServer(db, BUILT_FILES, { searchFolder }), openBrowser()]);
    await server.ask(`mutation { createCollection(input: { key: "cities", name: "Cities of the world", mapProperties: ["population"], rankBy: "population" }) { id } }`); // prettier-ignore
    await server.ask(`mutation { createCollection(input: { key: "countries", name: "Countries" }) { id } }`);
    for (let at = 0; at < cities.length; at += 100) {
      const markers = cities
        .slice(at, at + 100)
        .map((each) => (each.key === LONDON ? { ...each, place: ['Europe', 'United Kingdom'] } : each));
      await server.ask(
        `mutation ($markers: [MarkerInput!]!) { createMarkers(collection: "cities", markers: $markers) { markers { id } } }`,
        { markers },
      );
    }
    await recordHours(0, 48);
    for (const { key, name, geometry } of openCountries().filter((each) =>
      ['Poland', 'Czechia', 'Austria', 'Netherlands'].includes(String(each.name)),
    )) {
      await server.ask(`mutation ($input: CreateZoneInput!) { createZone(input: $input) { id } }`, {
        input: { collection: 'countries', key, name, properties: { continent: 'Europe' }, geometry: geometry() },
      });
    }
    await server.counted();
  });
  afterEach(async ({ task }) => {
    // Leftovers of a failed test must not fail others.
    if (task.result?.state !== 'fail') return;
    await shared?.context().close();
    shared = undefined;
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  it('shows all cities at first, as clusters and markers, under a strict content security policy', async () => {
    const page = await open('#at=1.4/28/12', MOVING);
    const response = await page.request.get(`${server.url}/`);
    expect(response.headers()['content-security-policy']).toMatch(/script-src 'self'; worker-src 'self'/);
    expect(response.headers()['content-security-policy']).not.toMatch(/unsafe|blob:/);
    const content = `${HANDLE}.layers[0].content`;
    const counted = await page.evaluate<number>(
      `${content}.clusters.reduce((sum, { count }) => sum + count, ${content}.markers.length)`,
    );
    expect(counted).toBe(cities.length);
    // Clusters, their counts and names: far more pixels than one changed label.
    const world = await shoot(page, 'world');
    await page.evaluate(`location.hash = '#at=1.4/28/12&on='`);
    await settled(page);
    expect(await differingPixels(browser, world, await shoot(page, 'world-empty'))).toBeGreaterThan(2_500);
    await page.context().close();
  });

  it.runIf(turn())('draws exactly the cities inside, individually, while panning and zooming', async () => {
    const page = await show('#at=6.5/51.5/7');
    for (const [name, zoom, lng, lat] of [
      ['region', 6.5, 7, 51.5],
      ['city', 10, -0.1, 51.5],
      ['street', 16, -0.1257, 51.5085],
    ] as const) {
      // prettier-ignore
      await page.evaluate(`void ${HANDLE}.map.jumpTo({ center: [${lng}, ${lat}], zoom: ${zoom} })`);
      await settled(page);
      const [west, south, east, north] = (await page.evaluate<number[][]>(`${HANDLE}.map.getBounds().toArray()`)).flat() as [number, number, number, number]; // prettier-ignore
      const inside = cities.filter(
        ({ position: { lng: x, lat: y } }) => x >= west && x <= east && y >= south && y <= north,
      );
      expect(inside.length).toBeGreaterThan(0);
      const drawn = await drawnNames(page);
      // Markers outside whose circle extends into the map may also be drawn.
      expect(inside.map((each) => each.name).filter((each) => !drawn.includes(each))).toEqual([]);
      const near = cities.filter(({ position: { lng: x, lat: y } }) => {
        const [dx, dy] = [(east - west) * 0.02, (north - south) * 0.02];
        return x >= west - dx && x <= east + dx && y >= south - dy && y <= north + dy;
      });
      expect(drawn.filter((each) => !near.some((other) => other.name === each))).toEqual([]);
      await keep(page, name);
    }
  });

  it.runIf(turn())(
    'shows the largest place of a cluster, flies to the zoom where it splits, and back with the back button',
    async () => {
      const page = await show('#at=2/48/10', 'no-preference');
      const before = page.url();
      const cluster = await page.evaluate<{ x: number; y: number; count: number; geohashes: string[] }>(`(() => {
      const onScreen = ${HANDLE}.layers[0].content.clusters
        .map(({ position, count, geohashes }) => ({ ...${HANDLE}.map.project(position), count, geohashes }))
        .filter(({ x, y }) => x > 350 && x < 950 && y > 80 && y < 560);
      const [{ x, y, count, geohashes }] = onScreen.toSorted((a, b) => b.count - a.count);
      return { x, y, count, geohashes };
    })()`);
      const inside = cities.filter(({ position }) =>
        cluster.geohashes.some((each) => encode(position, each.length) === each),
      );
      const [largest] = inside.toSorted(
        (a, b) => Number(b.properties['population']) - Number(a.properties['population']),
      );
      await page.mouse.move(cluster.x, cluster.y);
      await page.locator('#tip', { hasText: `${largest!.name} +${cluster.count - 1}` }).waitFor();
      await page.mouse.click(cluster.x, cluster.y);
      await expectSoon(page, `${HANDLE}.map.getZoom() > 2.9 && !${HANDLE}.map.isMoving()`);
      await settled(page);
      expect(page.url()).not.toBe(before);
      const counts = await page.evaluate<number[]>(`${HANDLE}.layers[0].content.clusters.map(({ count }) => count)`);
      expect(counts).not.toContain(cluster.count);
      await page.goBack();
      await expectSoon(page, `Math.abs(${HANDLE}.map.getZoom() - 2) < 0.01`);
      expect(page.url()).toBe(before);
    },
  );

  it.runIf(turn())('shows the details of a marker with its readings as charts, also after a reload', async () => {
    const page = await show('#at=9/51.5/-0.1');
    const { x, y } = await project(page, city(LONDON).position);
    await page.mouse.click(x, y);
    const card = page.locator('#card');
    await card.locator('figure svg').first().waitFor();
    expect(await card.locator('h2').textContent()).toBe('London');
    expect(await card.locator('.path li').allTextContents()).toEqual(['Europe', 'United Kingdom']);
    expect(await card.locator('dd').allTextContents()).toContainEqual(expect.stringMatching(/^\d,\d{3},\d{3}$/));
    expect((await card.locator('figure figcaption span').allTextContents()).toSorted()).toEqual([
      'humidity',
      'temperature',
    ]);
    const measured = async () =>
      ((await card.locator('polyline').first().getAttribute('points')) ?? '').split(' ').length;
    expect(await measured()).toBe(48);
    expect(await card.locator('.id').textContent()).toBe(`marker::cities::${LONDON}`);
    await keep(page, 'card');
    expect(await accessibilityFaults(page)).toEqual([]);
    // The subscription starts a moment after the card opens. A user of the card is not disturbed.
    await card.getByLabel('Close').focus();
    for (let hour = 48; (await measured()) === 48; hour++) {
      await recordHours(hour, hour + 1);
      await page.waitForTimeout(1_000);
    }
    expect(await page.evaluate(`document.activeElement?.getAttribute('aria-label')`)).toBe('Close');
    expect(page.url()).toContain(`place=marker::cities::${LONDON}`);
    await page.reload();
    await card.locator('figure svg').first().waitFor();
    await page.keyboard.press('Escape');
    await card.waitFor({ state: 'hidden' });
    expect(page.url()).not.toContain('place=');
  });

  it.runIf(turn())('shows markers that others move, with a pulse, and those they create and delete', async () => {
    const page = await show('#at=9/51.5/-0.1', 'no-preference');
    // Changes arrive once the socket is connected; the first one shows that it is.
    const input = { collection: 'cities', key: 'live', name: 'Live town', position: { lng: -0.5, lat: 51.7 } };
    const made = (await server.ask(CREATE, { input })).createMarker;
    await expectSoon(page, `${HANDLE}.layers[0].content.markers.some(({ key }) => key === 'live')`);
    await server.ask(UPDATE, { input: { id: made.id, position: { lng: 0.3, lat: 51.3 } } });
    await page.locator('.pulse').first().waitFor({ state: 'attached' });
    await expectSoon(
      page,
      `${HANDLE}.layers[0].content.markers.some(({ key, position }) => key === 'live' && position.lng === 0.3)`,
    );
    await keep(page, 'live');
    await server.ask(DELETE, { id: made.id });
    await expectSoon(page, `!${HANDLE}.layers[0].content.markers.some(({ key }) => key === 'live')`);
  });

  it.runIf(turn())('adds, drags and deletes markers, and undoes each change', async () => {
    const page = await show('#at=9/51.5/-0.1');
    const bar = page.locator('#bar');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.mouse.click(800, 560);
    await page.getByLabel('Name').fill('Newtown');
    await page.keyboard.press('Enter');
    await expectSoon(page, `${HANDLE}.layers[0].content.markers.some(({ name }) => name === 'Newtown')`);
    await page.getByRole('button', { name: 'Undo: add Newtown' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    const before = await readLondon();
    const from = await project(page, before.position);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 60, from.y + 40, { steps: 5 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Undo: move London' }).waitFor();
    const moved = await readLondon();
    expect(moved.version).toBe(before.version + 1);
    const shown = await project(page, moved.position);
    expect(Math.hypot(shown.x - from.x - 60, shown.y - from.y - 40)).toBeLessThan(3);
    await keep(page, 'edit');

    await page.mouse.click(shown.x, shown.y);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo: delete London' }).waitFor();
    expect(await readLondon()).toBeNull();
    await expectSoon(page, `!${HANDLE}.layers[0].content.markers.some(({ name }) => name === 'London')`);

    await page.keyboard.press('Control+z');
    await bar.getByText('Undone: delete London').waitFor();
    const back = await readLondon();
    expect([back.key, back.properties, back.place]).toEqual([before.key, before.properties, before.place]);
    await page.keyboard.press('Control+z');
    await bar.getByText('Undone: move London').waitFor();
    expect((await readLondon()).position).toEqual(before.position);
    await page.keyboard.press('Control+z');
    await bar.getByText('Undone: add Newtown').waitFor();
    await expectSoon(page, `!${HANDLE}.layers[0].content.markers.some(({ name }) => name === 'Newtown')`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
  });

  it('saves no drag that ends outside the map', async () => {
    const page = await show('#at=9/51.5/-0.1');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const before = await readLondon();
    const { x, y } = await project(page, before.position);
    const isBack = `${HANDLE}.layers[0].content.markers.some(({ name, position }) =>
      name === 'London' && position.lng === ${before.position.lng} && position.lat === ${before.position.lat})`;
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 40, { steps: 5 });
    await expectSoon(page, `!${isBack}`);
    const tools = (await page.locator('#tools').boundingBox())!;
    await page.mouse.move(tools.x + tools.width / 2, tools.y + tools.height / 2);
    await page.mouse.up();
    await page.mouse.move(x + 90, y + 90, { steps: 3 });
    await expectSoon(page, isBack);
    expect((await readLondon()).version).toBe(before.version);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
  });

  it.runIf(turn())(
    'reads the marker of its card again only when that changes, and shows no change where it only pans',
    async () => {
      const page = await show(`#at=6/51.5/-0.1&place=marker::cities::${LONDON}`, 'no-preference');
      await page.locator('#card').getByText('London').first().waitFor();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.postData() ?? ''));
      const details = () => asked.filter((text) => text.includes(LONDON)).length;
      await page.evaluate(`globalThis.pulses = 0; new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const node of addedNodes) if (node.classList?.contains('pulse')) pulses += 1;
    }).observe(document.body, { subtree: true, childList: true })`);
      for (const lng of [6, -0.1, 6, -0.1]) {
        await page.evaluate(`void ${HANDLE}.map.jumpTo({ center: [${lng}, 51.5] })`);
        await settled(page);
      }
      expect([details(), await page.evaluate('pulses')]).toEqual([0, 0]);
      const input = { collection: 'cities', key: 'beside', name: 'Beside', position: { lng: 0.9, lat: 51.9 } };
      const { id } = (await server.ask(CREATE, { input })).createMarker;
      await expectSoon(page, 'pulses > 0');
      expect(details()).toBe(0);
      await server.ask(UPDATE, { input: { id: `marker::cities::${LONDON}`, category: 'capital of England' } });
      await page.locator('#card').getByText('capital of England').waitFor();
      await server.ask(UPDATE, { input: { id: `marker::cities::${LONDON}`, category: city(LONDON).category } });
      await server.ask(DELETE, { id });
      await page.locator('#card').getByLabel('Close', { exact: true }).click();
    },
  );

  it.runIf(turn())('outlines the zone of its card, however late the answer about another one is', async () => {
    const page = await show('#at=4.5/50/12&on=countries');
    const nodes = `{ viewport(bounds: { west: 10, south: 45, east: 25, north: 55 }, zoom: 4) {
      zones(collection: "countries", first: 9) { nodes { id name } } } }`;
    const zones = (await server.ask(nodes)).viewport.zones.nodes as readonly { id: string; name: string }[];
    const idOf = (name: string) => zones.find((zone) => zone.name === name)!.id;
    const held: Route[] = [];
    await page.route('**/graphql', (route) => {
      const text = route.request().postData() ?? '';
      if (text.includes(`"${idOf('Poland')}"`) && text.includes('tolerance')) held.push(route);
      else void route.continue();
    });
    const openZone = (name: string) =>
      page.evaluate(`location.hash = '#at=4.5/50/12&on=countries&place=${idOf(name)}'`);
    await openZone('Poland');
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await openZone('Austria');
    await page.locator('#card h2', { hasText: 'Austria' }).waitFor();
    const outlined = (lng: number, lat: number) => `(() => {
      const { x, y } = ${HANDLE}.map.project([${lng}, ${lat}]);
      return ${HANDLE}.map.queryRenderedFeatures([[x - 99, y - 99], [x + 99, y + 99]], { layers: ['selected-zone'] }).length > 0;
    })()`;
    await expectSoon(page, outlined(14, 47.5));
    for (const route of held) await route.continue();
    await page.unrouteAll({ behavior: 'wait' });
    await settled(page);
    expect(await page.evaluate(outlined(14, 47.5))).toBe(true);
    await page.locator('#card').getByLabel('Close', { exact: true }).click();
  });

  it.runIf(turn())("flies to the main part of a link's country, and names what a link lacks", async () => {
    const page = await show('#on=countries&place=zone::countries::528');
    await page.locator('#card h2', { hasText: 'Netherlands' }).waitFor();
    // Together with its islands in the Caribbean, it would be at zoom 2.
    await expectSoon(page, `${HANDLE}.map.getZoom() > 5 && ${HANDLE}.map.getBounds().contains([4.9, 52.4])`);
    await page.evaluate(`location.hash = '#at=4/48/2&on=cities,nowhere&heat=gone&place=marker::cities::missing'`);
    const text =
      'This link refers to things that do not exist here: collection nowhere, collection gone, place marker::cities::missing';
    await page.locator('#bar').getByText(text, { exact: true }).waitFor();
    await page.locator('#card').waitFor({ state: 'hidden' });
  });

  describe('the search box', () => {
    const options = (page: Page) => page.locator('#search [role=option]');
    const note = (page: Page) => page.locator('#search [role=status]');
    /** Opens the box with `/`. */
    async function openBox(page: Page): Promise<void> {
      await page.evaluate('document.activeElement?.blur()');
      await page.keyboard.press('/');
      await page.locator('#search input:focus').waitFor();
    }

    it.runIf(turn())(
      'finds places that the page has not loaded, shows them on the map, and goes there by keyboard and back',
      async () => {
        await vi.waitFor(() => server.ask('{ search(text: "warszawa") { totalCount } }'), 30_000);
        const page = await show('#at=9/51.5/-0.1&on=cities');
        const before = page.url();
        await openBox(page);
        // With a typo, and far away.
        await page.keyboard.type('Barcelna');
        await options(page).filter({ hasText: 'Barcelona' }).first().waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        await page.locator('#search input').fill('b');
        const { totalCount } = (await server.ask('{ search(text: "b") { totalCount } }')).search;
        await note(page)
          .filter({ hasText: `8 of ${totalCount.toLocaleString('en-US')} results` })
          .waitFor();
        await page.locator('#search input').fill('lond');
        await options(page).filter({ hasText: 'London' }).first().waitFor();
        const rings = `${HANDLE}.map.querySourceFeatures('search-results')`;
        await expectSoon(page, `${rings}.some(({ properties }) => properties.active)`);
        // Pressing Enter before the results arrive selects the best of them.
        await page.locator('#search input').fill('london');
        await page.keyboard.press('Enter');
        await page.locator('#card .id', { hasText: LONDON }).waitFor();
        expect(page.url()).toContain(`place=marker::cities::${LONDON}`);
        await expectSoon(page, `${rings}.length === 0`);
        await openBox(page);
        await page.locator('#search input').fill('austr');
        const austria = options(page).filter({ hasText: 'Austria' });
        await austria.waitFor();
        for (let press = 0; (await austria.getAttribute('aria-selected')) !== 'true' && press < 9; press += 1)
          await page.keyboard.press('ArrowDown');
        expect(await page.locator('#search input').getAttribute('aria-activedescendant')).toBe(await austria.getAttribute('id')); // prettier-ignore
        await page.keyboard.press('Enter');
        await page.locator('#card h2', { hasText: 'Austria' }).waitFor();
        await settled(page);
        await expectSoon(page, `${HANDLE}.map.getBounds().contains([13.3, 47.5])`);
        await page.goBack();
        await page.locator('#card h2', { hasText: 'London' }).waitFor();
        await page.goBack();
        await page.locator('#card').waitFor({ state: 'hidden' });
        expect(page.url()).toBe(before);
      },
    );

    it.runIf(turn())(
      'shows positions for coordinates, collections for their names, and closes with Escape',
      async () => {
        const page = await show('#at=9/51.5/-0.1&on=cities');
        await page.getByRole('button', { name: 'Search' }).click();
        await page.locator('#search input').fill('48.2, 16.37');
        await options(page).filter({ hasText: 'Latitude, longitude' }).waitFor();
        expect(await options(page).allTextContents()).toEqual([
          '48.20000° N, 16.37000° ELatitude, longitude',
          '16.37000° N, 48.20000° ELongitude, latitude',
        ]);
        await page.keyboard.press('ArrowDown');
        expect(await options(page).nth(1).getAttribute('aria-selected')).toBe('true');
        await options(page).first().click();
        await settled(page);
        expect(page.url()).toMatch(/#at=12\/48.2\/16.37&on=cities&pin=48.2\/16.37$/);
        expect(await page.locator('#card h2').textContent()).toBe('48.20000° N, 16.37000° E');
        await openBox(page);
        await page.locator('#search input').fill('cities of');
        await options(page).filter({ hasText: 'Cities of the world' }).waitFor();
        await page.keyboard.press('Escape');
        await page.locator('#search').waitFor({ state: 'hidden' });
        await openBox(page);
        await page.locator('#search input').fill('countries');
        await page.keyboard.press('Enter');
        await page.locator('#search').waitFor({ state: 'hidden' });
        await settled(page);
        expect(page.url()).toContain('on=cities,countries');
      },
    );

    it.runIf(turn())('goes to what was typed when Enter was pressed, however late the results are', async () => {
      const page = await show('#at=9/51.5/-0.1&on=cities');
      await openBox(page);
      await page.keyboard.type('london');
      await options(page).filter({ hasText: 'London' }).first().waitFor();
      const held: Route[] = [];
      await page.route('**/graphql', (route) => {
        if ((route.request().postData() ?? '').includes('"text"')) held.push(route);
        else void route.continue();
      });
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('Austria');
      await page.keyboard.press('Enter');
      // On a busy machine, there may be one for its first letters, too.
      await expect.poll(() => held.some((route) => route.request().postData()?.includes('Austria'))).toBe(true);
      // The results of the former text are still shown.
      expect(await options(page).first().textContent()).toContain('London');
      expect(await page.locator('#card').isVisible()).toBe(false);
      for (const route of held) await route.continue();
      await page.locator('#card h2', { hasText: 'Austria' }).waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // Escape ends the composition of a character first.
      await openBox(page);
      const escape = (isComposing: boolean) =>
        page.evaluate<boolean>(`{
          const input = document.querySelector('#search input');
          const options = { key: 'Escape', bubbles: true, cancelable: true, isComposing: ${isComposing} };
          input.dispatchEvent(new KeyboardEvent('keydown', options));
          document.activeElement === input;
        }`);
      expect([await escape(true), await page.locator('#card').isVisible()]).toEqual([true, true]);
      // The next key is not the box's any more, even if the page has not been drawn since.
      expect([await escape(false), await page.locator('#card').isVisible()]).toEqual([false, true]);
      await page.locator('#card').getByLabel('Close', { exact: true }).click();
    });

    it.runIf(turn())(
      'finds only names that the page has loaded while the server cannot search, and says so',
      async () => {
        await server.stopSearch();
        const page = await show('#at=9/51.5/-0.1&on=cities');
        await openBox(page);
        await page.locator('#search input').fill('LOND');
        await note(page)
          .filter({ hasText: /^Searching only the [\d,]+ names loaded on this page: .+\.$/ })
          .waitFor();
        // On a busy machine, those of the empty box are shown a little longer.
        await expect.poll(() => options(page).first().textContent(), { timeout: 60_000 }).toContain('London');
        await page.keyboard.press('Escape');
      },
    );
  });

  const speeds = (
    [
      ['0 ms a key', 0, 1],
      ['20 ms a key on a slow machine', 20, 6],
    ] as const
  ).slice(0, rounds('typingSpeeds'));
  it.runIf(turn()).each(speeds)(
    'gives every key and click to what it opens, from the first on, at %s',
    async (_, delay, slower) => {
      const page = await load('#at=9/51.5/-0.1&on=cities', {}, '**/assets/file-preview*');
      await settled(page);
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower });
      const before = page.url();
      const search = page.locator('#search input');
      for (const text of ['London', 'Austria']) {
        await page.keyboard.type(`/${text}`, { delay });
        expect([await search.inputValue(), page.url()]).toEqual([text, before]);
        await page.keyboard.press('Escape');
      }
      await page.keyboard.type('??', { delay });
      expect(await page.getByRole('dialog').count()).toBe(1);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.mouse.click(800, 560);
      await page.keyboard.type('Tea/Coffee + more?', { delay });
      expect(await page.locator('#card input').inputValue()).toBe('Tea/Coffee + more?');
      expect(await page.locator('#search').isVisible()).toBe(false);
      await page.keyboard.press('Escape');
      const { x, y } = await project(page, city(LONDON).position);
      await page.mouse.click(x, y);
      await page.locator('#card').getByRole('button', { name: 'Edit', exact: true }).click();
      await page.keyboard.type('Big ', { delay });
      // The name was not selected.
      expect(await page.locator('#card input').first().inputValue()).toMatch(/^(Big London|LondonBig )$/);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'New collection' }).dblclick();
      await page.keyboard.type('Tea/Coffee', { delay });
      expect(await page.locator('#import input').first().inputValue()).toBe('Tea/Coffee');
      await page.keyboard.press('Escape');
      // A part that cannot be loaded says so where it was opened.
      const buffer = Buffer.from('key,lat,lng\n1,2,3\n');
      await page.locator('input[type=file]').setInputFiles({ name: 'one.csv', mimeType: 'text/csv', buffer });
      await page.locator('#import [role=alert]', { hasText: 'Could not load this part of the page' }).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('#import').waitFor({ state: 'hidden' });
      expect((await page.evaluate<number>(`${HANDLE}.map.getZoom()`)).toFixed(3)).toBe('9.000');
      await page.context().close();
      faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('ERR_FAILED')));
    },
  );

  it.runIf(turn())('filters, colors and sizes places by their properties, as the link says', async () => {
    const page = await show('#at=5/50/10&on=cities&range=cities/population/2000000..');
    const populations = () =>
      page.evaluate<number[]>(`${HANDLE}.layers[0].content.markers.map(({ properties }) => properties.population)`);
    const all = (await populations()).length;
    expect(all).toBeGreaterThan(2);
    expect(Math.min(...(await populations()))).toBeGreaterThanOrEqual(2_000_000);
    await page.getByRole('button', { name: 'Filter and color' }).click();
    const panel = page.locator('#filter');
    expect(await panel.getByLabel('population from').inputValue()).toBe('2000000');
    await panel.getByLabel('Color by').selectOption('population');
    await panel.getByLabel('Size by').selectOption('population');
    await panel.getByLabel('population from').fill('3000000');
    await page.keyboard.press('Tab');
    await expectSoon(page, `${HANDLE}.layers[0].content.markers.length < ${all}`);
    await settled(page);
    expect(Math.min(...(await populations()))).toBeGreaterThanOrEqual(3_000_000);
    expect(page.url()).toMatch(/&range=cities\/population\/3000000..&shade=cities\/population\/\d+..\d+&size=cities/);
    const looks = await page.evaluate<{ tint: string; scale: number; population: number }[]>(`(() => {
      const { map, layers } = ${HANDLE};
      const on = layers[0].mapLayers.filter((id) => id.endsWith('/markers'));
      const populations = new Map(layers[0].content.markers.map(({ id, properties }) => [id, properties.population]));
      return map.queryRenderedFeatures({ layers: on }).map(({ properties: { tint, scale, id } }) => {
        return { tint, scale, population: populations.get(id) };
      });
    })()`);
    const [largest, smallest] = [looks.toSorted((a, b) => b.scale - a.scale), looks.toSorted((a, b) => a.scale - b.scale)]; // prettier-ignore
    expect(largest[0]?.population).toBe(Math.max(...looks.map(({ population }) => population)));
    expect(smallest[0]?.population).toBe(Math.min(...looks.map(({ population }) => population)));
    expect(largest[0]?.tint).not.toBe(smallest[0]?.tint);
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, 'filter');
    await page.getByRole('button', { name: 'Remove filter: population from 3,000,000' }).click();
    await settled(page);
    expect(Math.min(...(await populations()))).toBeLessThan(2_000_000);
    await page.goBack();
    await page.locator('#legend .condition').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    const circles = page.locator('#legend').getByText('Circles with a number stand for many places');
    expect(await circles.count()).toBe(0);
    await show('#at=2/48/10&on=cities&size=cities/population/1000000..9000000');
    await circles.waitFor();
    await settled(page);
    const [, zoom] = /here from about zoom (\d+)\.$/.exec((await circles.textContent()) ?? '') ?? [];
    await page.evaluate(`location.hash = '#at=${zoom}/48/10&on=cities&size=cities/population/1000000..9000000'`);
    await circles.waitFor({ state: 'hidden' });
  });

  it.runIf(turn())(
    'shows the layers in all of the height that there is, and scrolls them above its buttons',
    async () => {
      const page = await show('#at=6/51.5/0&on=cities');
      await page.setViewportSize({ width: 1024, height: 260 });
      const bottom = async (selector: string) => {
        const { y, height } = (await page.locator(selector).boundingBox())!;
        return y + height;
      };
      expect([await bottom('#layers'), (await bottom('#layers .more')) <= 248]).toEqual([248, true]);
      const hidden = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('#layers ul'))`;
      expect(await page.evaluate<number>(hidden)).toBeGreaterThan(0);
      await page.setViewportSize(SMALL.viewport);
      expect(await page.evaluate<number>(hidden)).toBe(0);
    },
  );

  it.runIf(turn())(
    'says that clusters are not filtered if that is too expensive, and filters again when possible',
    async () => {
      const page = await show('#at=6/50/10&on=cities');
      const note = page.locator('#legend .note');
      let refused = 0;
      // As if the map had more markers than the server reads for one request.
      await page.route('**/graphql', async (route) => {
        const { query, variables } = route.request().postDataJSON();
        if (!query.includes('auto(') || !variables.filter || variables.zoom > 4) return route.continue();
        refused += 1;
        const errors = [{ message: 'auto: too much to read', extensions: { code: 'LIMIT_EXCEEDED' } }];
        return route.fulfill({ json: { data: { r0: { content: null } }, errors } });
      });
      await page.evaluate(`location.hash = '#at=2/48/10&on=cities&range=cities/population/3000000..'`);
      await note.waitFor();
      await settled(page);
      const counted = `${HANDLE}.layers[0].content.clusters.reduce((sum, { count }) => sum + count, 0)`;
      expect(await page.evaluate<number>(counted)).toBeGreaterThan(50);
      // The filter is retried once there are fewer.
      expect(refused).toBe(2);
      await page.evaluate(`location.hash = '#at=6/51.5/0&on=cities&range=cities/population/3000000..'`);
      await note.waitFor({ state: 'hidden' });
      await settled(page);
      expect(await drawnNames(page)).toEqual(['London']);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
  );

  it.runIf(turn())("edits name, category and properties on top of someone else's changes, and redoes it", async () => {
    const page = await show('#at=9/51.5/-0.1&on=cities');
    const before = await readLondon();
    const { x, y } = await project(page, before.position);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.mouse.click(x, y);
    await page.locator('#card').getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.locator('#card form');
    await form.getByLabel('Category').fill('capital');
    await form.getByRole('button', { name: 'Add property' }).click();
    await form.getByLabel('Property', { exact: true }).last().fill('mayor');
    await form.getByLabel('Value', { exact: true }).fill('{"since": 2016}');
    await server.ask(UPDATE, { input: { id: before.id, name: 'Londinium' } });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('name: London → Londinium').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await form.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByRole('button', { name: 'Undo: edit Londinium' }).waitFor();
    const edited = { ...before, name: 'Londinium', category: 'capital', properties: { ...before.properties, mayor: { since: 2016 } } }; // prettier-ignore
    const fields = ({ name, category, properties }: typeof before) => ({ name, category, properties });
    expect(fields(await readLondon())).toEqual(fields(edited));
    await page.keyboard.press('Control+z');
    await page.locator('#bar').getByText('Undone: edit Londinium').waitFor();
    expect(fields(await readLondon())).toEqual(fields({ ...before, name: 'Londinium' }));
    await page.keyboard.press('Control+Shift+Z');
    await page.locator('#bar').getByText('Redone: edit Londinium').waitFor();
    expect(fields(await readLondon())).toEqual(fields(edited));
    await server.ask(UPDATE, { input: { id: before.id, ...fields(before) } });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
  });

  it.runIf(turn())('shares its link, shows the position of the user, and its keys', async () => {
    const page = await show('#at=9/51.5/-0.1&on=cities');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write', 'geolocation']);
    await page.context().setGeolocation({ latitude: 48.2, longitude: 16.37, accuracy: 2_000 });
    await page.getByRole('button', { name: 'Share this view' }).click();
    await page.locator('#bar').getByText('Link copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());
    await page.getByRole('button', { name: 'Show your position' }).click();
    await page.locator('.here').waitFor();
    await expectSoon(page, `Math.abs(${HANDLE}.map.getCenter().lng - 16.37) < 0.001 && ${HANDLE}.map.getZoom() > 12`);
    await page.evaluate('document.activeElement?.blur()');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Full screen' }).click();
    await expectSoon(page, 'document.fullscreenElement');
    await page.evaluate('document.exitFullscreen()');
  });

  it.runIf(turn())('reports a conflicting change by someone else, and shows it', async () => {
    const page = await show('#at=9/51.5/-0.1');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const before = await readLondon();
    const { x, y } = await project(page, before.position);
    // The page reads the version when the drag begins; if it did so later, it would find no conflict.
    const read = page.waitForResponse((response) => response.request().postData()?.includes(before.id) ?? false);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 50, y, { steps: 3 });
    await read;
    await server.ask(UPDATE, { input: { id: before.id, position: { lng: -0.3, lat: 51.6 } } });
    await page.mouse.up();
    await page.locator('#bar').getByText('someone else changed it in the meantime').waitFor();
    await expectSoon(
      page,
      `${HANDLE}.layers[0].content.markers.some(({ name, position }) => name === 'London' && position.lng === -0.3)`,
    );
    await server.ask(UPDATE, { input: { id: before.id, position: before.position } });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
  });

  it.runIf(turn())('stops showing that it loads once the layer that loads is switched off', async () => {
    const page = await show('#at=4.5/50/12&on=cities');
    const held: Route[] = [];
    await page.route('**/graphql', (route) => void held.push(route));
    await page.evaluate(`void ${HANDLE}.map.jumpTo({ center: [60, 50] })`);
    const isLoading = `document.querySelector('#progress').matches('.on')`;
    await expectSoon(page, isLoading);
    await page.getByRole('switch', { name: /Cities/ }).uncheck();
    await expectSoon(page, `!${isLoading}`);
    for (const route of held) await route.continue().catch(() => undefined);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it.runIf(turn())('draws zones with their names, and heatmaps instead of places', async () => {
    const page = await show('#at=4.5/50/12&on=cities,countries&heat=cities');
    const legend = page.locator('#legend');
    await legend.getByText('places per 100 km square').waitFor();
    const scale = await legend.textContent();
    const { x: heatX, y: heatY } = await project(page, { lng: 13.4, lat: 52.5 });
    await page.mouse.move(heatX, heatY);
    await page.locator('#tip', { hasText: /^≈ \d.* places per 100 km square$/ }).waitFor();
    await page.evaluate(`void ${HANDLE}.map.panBy([300, 0], { animate: false })`);
    await settled(page);
    expect(await page.locator('#tip').isVisible()).toBe(false);
    expect(await legend.textContent()).toBe(scale);
    await keep(page, 'heatmap');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#explain tbody tr').first().waitFor();
    await legend.getByText('places per cell').waitFor();
    // The legend changes before the cells are drawn.
    await expectSoon(
      page,
      `${HANDLE}.map.queryRenderedFeatures({ layers: ${HANDLE}.layers.flatMap((layer) => layer.mapLayers).filter((id) => id.endsWith('/cells')) }).length > 20`,
    );
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('switch', { name: /Cities/ }).uncheck();
    await settled(page);
    const { x, y } = await project(page, { lng: 19, lat: 52 });
    await page.mouse.click(x, y);
    const card = page.locator('#card');
    await card.getByText(/^[1-9]\d* places inside: Cities of the world$/).waitFor();
    expect(await card.locator('h2').textContent()).toBe('Poland');
    expect(await card.locator('dd').allTextContents()).toEqual(['Europe']);
    const highlighted = `${HANDLE}.map.queryRenderedFeatures({ layers: ['selected-zone'] }).length`;
    await expectSoon(page, highlighted);
    await keep(page, 'zones');
    expect(page.url()).toMatch(/on=countries&place=zone::countries::\d+$/);
    await page.reload();
    await card.getByText('places inside').waitFor();
    await card.getByLabel('Close', { exact: true }).click();
    await settled(page);
    expect(await page.evaluate<number>(highlighted)).toBe(0);
  });

  it.runIf(turn())('fits a phone without horizontal scrolling, with layers and card as bottom sheets', async () => {
    const page = await open('#at=5/51.5/4', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 0.5 }); // prettier-ignore
    const wide = () => page.evaluate<number>('document.documentElement.scrollWidth');
    expect(await wide()).toBe(390);
    await keep(page, 'phone');
    await page.getByRole('button', { name: 'List places' }).tap();
    await page.getByRole('button', { name: 'Layers' }).tap();
    await page.getByRole('switch', { name: /Cities/ }).waitFor();
    // One sheet at a time, and no button says that another is open.
    expect(await page.locator('#places').isVisible()).toBe(false);
    expect(await page.locator('#tools [aria-pressed=true]').count()).toBe(0);
    await keep(page, 'phone-layers');
    // The column of buttons leaves the lower part of the map free: most of them are in the menu.
    expect((await page.locator('#tools').boundingBox())?.height).toBeLessThan(844 / 3);
    await page.getByRole('button', { name: 'More' }).tap();
    await keep(page, 'phone-more');
    await page.getByRole('button', { name: 'Edit', exact: true }).tap();
    await page.locator('#edit').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('#edit').waitFor({ state: 'hidden' });
    const { x, y } = await project(page, city(LONDON).position);
    await page.touchscreen.tap(x, y);
    await page.locator('#card .id').waitFor();
    const sheet = await page.locator('#card').boundingBox();
    expect([sheet?.x, sheet?.width]).toEqual([0, 390]);
    expect(await page.getByRole('switch', { name: /Cities/ }).isVisible()).toBe(false);
    expect(await wide()).toBe(390);
    await keep(page, 'phone-card');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.evaluate(`void ${HANDLE}.map.setZoom(-2)`);
    const [[west, south], [east, north]] = await page.evaluate<[[number, number], [number, number]]>(`${HANDLE}.map.getBounds().toArray()`); // prettier-ignore
    expect([Math.round(east - west), south < -85, north > 85]).toEqual([360, true, true]);
    await page.context().close();
  });

  it.runIf(turn())("follows the system's dark theme, can be switched, and ignores invalid addresses", async () => {
    const page = await open('#at=4/50/10', { colorScheme: 'dark' });
    const water = `${HANDLE}.map.getPaintProperty('water', 'background-color')`;
    const dark = await page.evaluate<string>(water);
    await keep(page, 'dark');
    await page.getByRole('button', { name: 'Light theme' }).click();
    expect(await page.evaluate<string>(water)).not.toBe(dark);
    await page.evaluate(`location.hash = '#at=x/y/z&on=nothing,,%00&heat=%E0%A4%A'`);
    await page.reload();
    await settled(page);
    expect(await page.getByRole('button', { name: 'Dark theme' }).count()).toBe(1);
    for (const hash of ['#at=99/200/900', '#%', '#place=marker::cities::gone', '#at=4/50/10&on=cities'])
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await expectSoon(page, `Math.abs(${HANDLE}.map.getZoom() - 4) < 0.01 && ${HANDLE}.layers[0].drawn === 'points'`);
    await page.locator('#card').waitFor({ state: 'hidden' });
    await page.context().close();
  });

  it.runIf(turn())(
    'can be used by keyboard alone, from the list to a card and back, and announces what is shown',
    async () => {
      const page = await show('#at=9/51.5/-0.1&on=cities');
      await page.locator('#shown', { hasText: /\d+ places? shown/ }).waitFor();
      // Tab begins at the top.
      await page.evaluate(`{
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute('tabindex');
    }`);
      const focused = () => page.evaluate<string>(`document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''`); // prettier-ignore
      for (let press = 0; press < 20 && (await focused()) !== 'List places in view'; press += 1)
        await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const rows = page.locator('#places li button');
      await rows.first().waitFor();
      expect(await rows.first().textContent()).toContain('London');
      await rows.first().focus();
      await page.keyboard.press('Enter');
      await page.locator('#card .id').waitFor();
      await keep(page, 'list');
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.locator('#card').waitFor({ state: 'hidden' });
      expect(await focused()).toContain('London');
      await page.keyboard.press('Escape');
      await page.locator('#places').waitFor({ state: 'hidden' });
      const zoom = await page.evaluate<number>(`${HANDLE}.map.getZoom()`);
      await page.evaluate('document.activeElement?.blur()');
      await page.keyboard.press('+');
      await expectSoon(page, `${HANDLE}.map.getZoom() > ${zoom} + 0.9`);
    },
  );

  it.runIf(turn())('names the nearest place if the view is empty, and goes there', async () => {
    const page = await show('#at=7/-45/-140');
    const nearest = page.locator('#nearest');
    await nearest.getByText(/^No places here. The nearest, .+, is [\d,]+ km away.$/).waitFor();
    expect(await page.evaluate<number>(`${HANDLE}.layers[0].content.markers.length`)).toBe(0);
    await nearest.getByRole('button', { name: 'Go there' }).click();
    await expectSoon(page, `${HANDLE}.layers[0].content.markers.length > 0`);
    expect(await nearest.isVisible()).toBe(false);
  });

  it.runIf(turn())('requests no nearest place before the view has loaded', async () => {
    const page = await show('#at=7/-45/-140');
    // That of the empty view, which the test before may have read, or not run.
    await page.locator('#nearest').getByText('The nearest, ').waitFor();
    const asked: string[] = [];
    await page.route('**/graphql', async (route) => {
      const query = route.request().postData() ?? '';
      asked.push(query);
      if (!query.includes('nearest(')) await sleep(1_500);
      await route.continue();
    });
    await show('#at=6/48/8');
    // A request may still be held back here: Chromium then lets it continue.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((query) => query.includes('nearest('))).toEqual([]);
  });

  it.runIf(turn())('draws no name of the base map beneath a cluster', async () => {
    // At higher zooms the cities of this test are few enough to be drawn as themselves.
    const page = await show('#at=2/48/12');
    expect(await page.evaluate<string[]>(`(() => {
      const { map, layers } = ${HANDLE};
      const names = ['country-names', 'place-names'];
      const clusters = layers.flatMap((layer) => layer.content.clusters).filter(({ count }) => count > 1);
      if (clusters.length === 0) return ['there are no clusters'];
      return clusters.flatMap(({ position }) => map.queryRenderedFeatures(map.project(position), { layers: names }))
        .map(({ properties }) => properties.name);
    })()`)).toEqual([]); // prettier-ignore
  });

  it.runIf(turn())(
    'shows rivers, lakes, regions and places, names countries, and says where its map ends',
    async () => {
      const page = await show('#at=4/48/12');
      const shownLayers = await page.evaluate<string[]>(
        `[...new Set(${HANDLE}.map.queryRenderedFeatures().map(({ layer }) => layer.id))]`,
      );
      for (const layer of ['rivers', 'lakes', 'region-borders', 'place-names', 'country-names'])
        expect(shownLayers).toContain(layer);
      const named = await page.evaluate<string[]>(
        `${HANDLE}.map.queryRenderedFeatures({ layers: ['country-names'] }).map(({ properties }) => properties.name)`,
      );
      expect(named).toEqual(expect.arrayContaining(['France', 'Poland', 'Italy', 'Austria']));
      const note = page.locator('#base-note');
      expect(await note.isVisible()).toBe(false);
      await show('#at=9/48/12');
      await note.getByText('CELLPORT_STYLE_URL').waitFor();
      await note.getByRole('button').click();
      await show('#at=9.5/48/12');
      expect(await note.isVisible()).toBe(false);
    },
  );

  it.runIf(turn())('draws a custom style with tiles from a PMTiles file, and a PMTiles file alone', async () => {
    const own = await serveOwnTiles();
    const styled = await startMapServer(db, BUILT_FILES, { styleUrl: own.styleUrl });
    const page = await browser.newPage({ ...SMALL, reducedMotion: 'reduce' });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.goto(`${styled.url}/#at=9/51.5/-0.1`);
    await settled(page);
    const land = `${HANDLE}.map.queryRenderedFeatures({ layers: ['own-land'] }).length`;
    expect(await page.evaluate<number>(land)).toBeGreaterThan(0);
    expect(await drawnNames(page)).toContain('London');
    // The heatmap finds its position even in a style without names.
    await page.evaluate(`location.hash = '#at=4/51.5/-0.1&heat=cities'`);
    await settled(page);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    expect(await page.locator('#base-note').isVisible()).toBe(false);
    await keep(page, 'own-style');
    // As if the server had been started with another URL of that origin.
    const open = async (url: string) => {
      const meta = `document.querySelector('meta[name=cellport-style]').content = ${JSON.stringify(url)}`;
      await page.addInitScript(`document.addEventListener('readystatechange', () => (${meta}), { once: true })`);
      await page.reload();
    };
    await open(own.tilesUrl);
    await expectSoon(page, `${HANDLE}?.map.queryRenderedFeatures({ layers: ['earth'] }).length > 0`);
    await open(own.foreignUrl);
    await page.locator('#base-note', { hasText: 'do not use the Protomaps schema' }).waitFor();
    await page.close();
    await styled.close();
    own.close();
  });

  it.runIf(turn())('keeps its tools beside the map, and its message in lines of several words on a phone', async () => {
    const page = await load(
      `#at=6/51.5/0&on=${'far'.repeat(9)}`,
      { viewport: { width: 1024, height: 640 } },
      '**/graphql',
    );
    await page.locator('#offline').getByText('Offline, trying again').waitFor();
    const right = async (selector: string) => {
      const { x, width } = (await page.locator(selector).boundingBox())!;
      return [x, x + width];
    };
    // Also before there are any.
    expect([(await right('#map'))[1], await right('#tools')]).toEqual([956, [956, 1024]]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.unroute('**/graphql');
    await page.locator('#bar').getByText('farfar').waitFor();
    expect(await page.locator('#bar').evaluate(({ clientWidth }) => clientWidth)).toBeGreaterThan(300);
    await page.context().close();
    faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('ERR_FAILED')));
  });

  it.runIf(turn())(
    'says which collections of its link do not exist, and that the base map could not be loaded',
    async () => {
      const page = await load('#at=6/51.5/0&on=cities,nowhere', {}, '**/*.pbf');
      await page.locator('#base-note').getByText('Could not load all of the base map').waitFor();
      await page.locator('#bar').waitFor();
      expect(await page.locator('#bar').textContent()).toContain('do not exist here: collection nowhere');
      await page.context().close();
      faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('ERR_FAILED')));
    },
  );

  it.runIf(turn())(
    'keeps its picture, dimmed, while the server is gone or busy, says so, and continues by itself',
    async () => {
      const page = await show('#at=3/25/85&on=cities');
      const offline = page.locator('#offline');
      const layer = `${HANDLE}.layers[0]`;
      const drawn = () =>
        page.evaluate<number>(`${HANDLE}.map.queryRenderedFeatures({ layers: ${layer}.mapLayers }).length`);
      await page.context().setOffline(true);
      await page.evaluate(`void ${HANDLE}.map.jumpTo({ center: [85, 25], zoom: 4 })`);
      await offline.getByText('Offline, trying again').waitFor();
      // After the second failure, the client has no content for this zoom, at which no other test was here.
      await expectSoon(page, `${layer}.content.clusters.length + ${layer}.content.markers.length === 0`);
      expect(await drawn()).toBeGreaterThan(0);
      expect(await page.evaluate(`getComputedStyle(document.querySelector('#map canvas')).opacity`)).toBe('0.5');
      expect(await page.locator('#bar').isVisible()).toBe(false);
      await keep(page, 'offline');
      await page.context().setOffline(false);
      await offline.waitFor({ state: 'hidden' });
      await settled(page);
      const busy = { message: 'The server is busy.', extensions: { code: 'UNAVAILABLE', retryAfterMs: 300 } };
      await page.route('**/graphql', (route) => route.fulfill({ status: 503, json: { errors: [busy] } }));
      await page.evaluate(`void ${HANDLE}.map.jumpTo({ center: [-60, -15], zoom: 4 })`);
      await offline.getByText('Server busy, trying again').waitFor();
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await offline.waitFor({ state: 'hidden' });
      await expectSoon(page, `${layer}.content.clusters.length + ${layer}.content.markers.length > 0`);
      faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('503')));
      faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('ERR_INTERNET_DISCONNECTED')));
    },
  );

  it.runIf(turn())(
    'shows the map without a click once a server answers that did not when the page started',
    async () => {
      const page = await load('#at=6/51.5/0', {}, '**/graphql');
      await page.locator('#offline').getByText('Offline, trying again').waitFor();
      expect(await page.locator('#layers').getByRole('switch').count()).toBe(0);
      await page.unroute('**/graphql');
      await settled(page);
      await page.getByRole('switch', { name: /Cities/ }).waitFor();
      await page.locator('#offline').waitFor({ state: 'hidden' });
      expect(await drawnNames(page)).toContain('London');
      await page.context().close();
      faults.splice(0, faults.length, ...faults.filter((each) => !each.includes('ERR_FAILED')));
    },
  );

  it('made no requests to other hosts, and caused no errors', () => {
    expect({ elsewhere, faults }).toEqual({ elsewhere: [], faults: [] });
  });
});
