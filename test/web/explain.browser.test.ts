import { join } from 'node:path';
import type { Feature, FeatureCollection, MultiPolygon } from 'geojson';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Answer, MapMarker } from '../../src/client/public.js';
import { encode, toZ } from '../../src/geo/geohash.js';
import { metricsOf } from '../../src/server/hot-keys.js';
import { ConsumptionSampler } from '../../src/store/consumption/sampler.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { fillCells, startServer, type LiveServer } from '../http/live-server.js';
import { addAllPages } from '../support/add-pages.js';
import { testPages } from '../support/page-services.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { hasChromium, openBrowser } from './browser.js';

/** What the page exposes to tests: see explain-page/main.ts. */
interface Tested {
  readonly map: {
    panBy(offset: readonly [number, number], options: { readonly duration: number }): unknown;
    getFeatureState(of: { readonly source: string; readonly id: number }): { readonly on?: boolean };
    getStyle(): { readonly sources: object };
    areTilesLoaded(): boolean;
  };
  readonly answers: readonly {
    readonly answer: Answer;
    readonly shown: number;
    readonly markers: readonly MapMarker[];
  }[];
  readonly explain: { setVisible(on: boolean): void };
  drawn(): Promise<FeatureCollection>;
}
declare const tested: Tested;

const SLOW = 60_000;
const COUNT = 500;
/** Spread over a few degrees, at the same positions in every run. */
const place = (index: number) => ({ lng: 5 + ((index * 7.31) % 10), lat: 45 + ((index * 3.77) % 6) });

/** Whether a position is in a ring, by ray casting to the east. */
function isInRing(ring: readonly (readonly number[])[], lng: number, lat: number): boolean {
  let inside = false;
  let [x0 = 0, y0 = 0] = ring.at(-1) ?? [];
  for (const [x = 0, y = 0] of ring) {
    if (lat < y !== lat < y0 && lng < x + ((lat - y) * (x0 - x)) / (y0 - y)) inside = !inside;
    [x0, y0] = [x, y];
  }
  return inside;
}

describe.skipIf(!hasChromium)('Explain on a map in a browser', async () => {
  const consumption = new ConsumptionSampler(() => performance.now());
  const db = { ...(await testDatabase('readable', { waitsForDisk: true })), consumption };
  const staticDir = temporaryFolder();
  let browser: Browser;
  let server: LiveServer;
  let page: Page;
  let faults: readonly string[];

  beforeAll(async () => {
    await build({
      root: join(import.meta.dirname, 'explain-page'),
      base: '/graphiql/',
      logLevel: 'error',
      build: { outDir: staticDir, target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 2_000 },
    });
    const metrics = metricsOf(consumption, db.keys);
    server = await startServer(db, { staticDir, ...testPages({ trusted: true }), metrics });
    const now = new Date().toISOString();
    const collection = await testCollection(db, { key: 'parks', name: 'Parks' }, now);
    const markers = Array.from({ length: COUNT }, (_, index) => ({ key: `p${index}`, position: place(index) }));
    await createMarkers(newCall(db), collection, markers, now);
    await fillCells(db, collection, markers);
    await addAllPages(db, collection);
    browser = await openBrowser();
    ({ page, faults } = await openPage());
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  async function openPage(options: Parameters<Browser['newPage']>[0] = {}) {
    const opened = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      deviceScaleFactor: 0.5,
      ...options,
    });
    const found: string[] = [];
    opened.on('pageerror', (error) => found.push(error.message));
    opened.on('console', (message) => {
      if (message.type() === 'error') found.push(message.text());
    });
    await opened.goto(`${server.url}/graphiql/`);
    await opened.locator('#explain tbody tr').first().waitFor({ timeout: SLOW });
    return { page: opened, faults: found };
  }

  const answers = () => page.evaluate(() => tested.answers);
  const figures = () =>
    page.locator('#explain dl > div').evaluateAll((all) =>
      Object.fromEntries(
        all.map((each) => [each.querySelector('dt')?.textContent, each.querySelector('dd')?.firstChild?.textContent]),
      ),
    ); // prettier-ignore
  const bars = () => page.locator('#explain .bars rect').count();
  /** Moves the map, and waits for its next response. */
  async function pan(x: number, y: number): Promise<void> {
    const before = (await answers()).length;
    await page.evaluate(([dx, dy]) => void tested.map.panBy([dx, dy], { duration: 0 }), [x, y] as const);
    await page.waitForFunction((count) => tested.answers.length > count, before, { timeout: SLOW });
  }

  it('draws the pages of the response and its other ranges, cell by cell, with their cost', async () => {
    const [told] = await answers();
    const { reads = [], cost, ms = 0 } = told?.answer ?? {};
    // Both executors use the same pages.
    const used = (told?.answer.pages ?? []).map((each) => [JSON.stringify(each), each] as const);
    const pages = [...new Map(used).values()];
    expect(reads.some(({ index }) => index === 'pages')).toBe(true);
    const isInPage = (lng: number, lat: number) =>
      pages.some(({ bounds: b }) => b && b.west <= lng && lng <= b.east && b.south <= lat && lat <= b.north);
    const inPages = pages.reduce((sum, { markers }) => sum + markers, 0);
    const markers = told?.markers ?? [];
    expect(markers.filter(({ position: { lng, lat } }) => !isInPage(lng, lat))).toEqual([]);
    expect(await page.locator('#explain .pages').textContent()).toBe(
      `${markers.length} of ${inPages} markers in ${pages.length} pages shown`,
    );
    expect(await figures()).toEqual({
      'Query calls': String(cost?.queries),
      'Read units': String(cost?.readUnits),
      'Cache hits': String(cost?.cacheHits),
      Time: Math.round(ms).toLocaleString('en'),
    });
    expect(await page.locator('#explain .is-read b').textContent()).toBe(String(cost?.itemsScanned));
    expect(await page.locator('#explain .is-shown b').textContent()).toBe(String(told?.shown));

    const rows = page.locator('#explain tbody tr');
    expect(await rows.count()).toBe(reads.length);
    for (const [at, read] of reads.entries()) {
      const cells = await rows.nth(at).locator('.pk, .keys, td').allTextContents();
      const keys = read.from === read.to ? read.from : `${read.from} … ${read.to}`;
      const units = read.cached ? 'cache' : String(read.readUnits);
      expect(cells).toEqual([`${read.index} ${read.pk}`, keys, String(read.items), units]);
    }

    const drawn = await page.evaluate(() => tested.drawn());
    const ranges = drawn.features.filter(
      ({ properties }) => properties?.['kind'] === 'range',
    ) as Feature<MultiPolygon>[];
    for (const cached of [false, true]) {
      const polygons = ranges.filter(({ properties }) => properties?.['cached'] === cached);
      const reported = reads.filter((read) => read.cached === cached && read.geohashes && read.index !== 'pages');
      let inside = 0;
      for (let index = 0; index < 2_000; index++) {
        // Half of them near the center of the map, the others anywhere.
        const wide = index % 2 === 0 ? 6 : 180;
        const lng = Math.max(-179.9, Math.min(179.9, 8 + wide * (((index * 0.61803) % 1) * 2 - 1)));
        const lat = Math.max(-84, Math.min(84, 47 + (wide / 2) * (((index * 0.75488) % 1) * 2 - 1)));
        const geohash = encode({ lng, lat }, 10);
        const isOfPage = !cached && isInPage(lng, lat);
        const isTold =
          isOfPage ||
          reported.some(({ geohashes }) => {
            const z = toZ(geohash.slice(0, geohashes?.first.length));
            return toZ(geohashes?.first ?? '') <= z && z <= toZ(geohashes?.last ?? '');
          });
        const isDrawn = polygons.some(({ geometry }) =>
          geometry.coordinates.some(([outline = []]) => isInRing(outline, lng, lat)),
        );
        expect([lng, lat, isDrawn]).toEqual([lng, lat, isTold]);
        inside += isTold ? 1 : 0;
      }
      if (!cached || reported.length > 0) expect(inside).toBeGreaterThan(20);
    }
  });

  it('highlights a range when its row is hovered or focused, and a row when its range is hovered', async () => {
    const lit = () =>
      page.evaluate(async () => {
        const data = await tested.drawn();
        const ids = data.features.map(({ properties }) => properties?.['id'] as number | undefined);
        const isOn = (id: number) => tested.map.getFeatureState({ source: 'explain-ranges', id }).on === true;
        return [...new Set(ids)].filter((id) => id !== undefined && isOn(id));
      });
    const rows = page.locator('#explain tbody tr');
    // The read of the directory of pages has no position on the map.
    const ofPages = rows.filter({ has: page.locator('.pk', { hasText: /^pages/ }) }).first();
    await ofPages.hover();
    // One Query call reads many pages.
    expect((await lit()).length).toBeGreaterThan(1);
    await page.mouse.move(1270, 790);
    await page.locator('#explain h2').hover();
    expect(await lit()).toEqual([]);

    await rows.nth(0).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#explain tbody tr:focus').getAttribute('data-at')).toBe('1');
    await ofPages.focus();
    expect((await lit()).length).toBeGreaterThan(1);
    expect(await page.locator('#explain tbody tr[tabindex="0"]').count()).toBe(1);

    await page.waitForFunction(() => tested.map.areTilesLoaded());
    await page.mouse.move(400, 400);
    await page.mouse.move(402, 402);
    await page.locator('#explain tr.on').first().waitFor({ timeout: SLOW });
    expect(await lit()).toHaveLength(1);
  });

  it('adds a bar with each pan, and shows details of the last one only', async () => {
    expect(await bars()).toBe(1);
    await pan(700, 0);
    expect(await bars()).toBe(2);
    await pan(0, 600);
    expect(await bars()).toBe(3);
    const last = (await answers()).at(-1)?.answer;
    expect((await figures())['Query calls']).toBe(String(last?.cost?.queries));
    expect(await page.locator('#explain tbody tr').count()).toBe(last?.reads.length);
    // Back in a fully cached area nothing is requested, which also counts as a view.
    await page.evaluate(() => void tested.map.panBy([0, -600], { duration: 0 }));
    await page.locator('#explain .none', { hasText: 'No requests' }).waitFor({ timeout: SLOW });
    expect([await bars(), (await figures())['Query calls']]).toEqual([4, '0']);
    expect(faults).toEqual([]);
  });

  it('lists the hottest keys of the server, and outlines the area of the one under the pointer', async () => {
    const { page: fresh } = await openPage();
    const hot = fresh.locator('#explain .hot');
    await hot.locator('summary').click();
    const row = hot.locator('li', { hasText: 'prefix u0 of collection parks' });
    expect(await row.locator('small').textContent()).toMatch(/^[\d.]+%, [\d.,]+ write units\/s$/);
    const hasArea = () => fresh.evaluate(() => 'explain-hot' in tested.map.getStyle().sources);
    expect(await hasArea()).toBe(false);
    await row.hover();
    expect(await hasArea()).toBe(true);
    await fresh.evaluate(() => tested.explain.setVisible(false));
    expect(await hasArea()).toBe(false);
    await fresh.close();
  });

  it('leaves nothing on the map when it is closed, and fits on a phone', async () => {
    const { page: phone } = await openPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const sideways = () => phone.locator('#explain').evaluate((panel) => panel.scrollWidth - panel.clientWidth);
    expect(await sideways()).toBe(0);
    await phone.evaluate(() => tested.explain.setVisible(false));
    expect(await phone.locator('#explain').isVisible()).toBe(false);
    const left = () => phone.evaluate(() => Object.keys(tested.map.getStyle().sources));
    expect(await left()).toEqual([]);
    await phone.evaluate(() => tested.explain.setVisible(true));
    expect(await left()).toContain('explain-ranges');
    await phone.close();
  });
});
