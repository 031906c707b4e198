import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startServer, type LiveServer } from '../http/live-server.js';
import { makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { inTurn } from '../support/rounds.js';
import { collectFaults, expectSoon, hasChromium, openBrowser, SMALL } from './browser.js';
import { stockSite } from './stock-site.js';

const turn = inTurn(2);
/** Saves a picture if CELLPORT_SCREENSHOTS is set. */
async function shown(tab: Page, name: string): Promise<void> {
  if (process.env['CELLPORT_SCREENSHOTS']) await tab.screenshot({ path: `screenshots/${name}.png` });
}

describe.skipIf(!hasChromium)('a stock MapLibre style', () => {
  const markers = realMarkers(40);
  const faults: string[] = [];
  let api: LiveServer;
  let page: Awaited<ReturnType<typeof stockSite>>;
  let browser: Browser;

  beforeAll(async () => {
    const db = memoryDatabase();
    await makeCollection(db, { key: 'cities' }, markers);
    api = await startServer(db, { allowedOrigins: ['*'] });
    page = await stockSite(`${api.url}/tiles/cities.json`);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    page.site.close();
    await api.close();
  });

  test('draws clusters and, closer, every marker, from the URL of TileJSON', async ({ skip, task }) => {
    skip(!turn(task));
    const tab = await browser.newPage(SMALL);
    collectFaults(tab, faults);
    await tab.goto(page.url);
    await expectSoon(tab, 'window.isIdle');
    const drawn = (layer: string) =>
      tab.evaluate<Record<string, unknown>[]>(
        `map.queryRenderedFeatures({ layers: ['${layer}'] }).map(({ properties }) => properties)`,
      );
    const clusters = await drawn('clusters');
    expect(clusters.length).toBeGreaterThan(10);
    expect(clusters.every(({ count }) => Number(count) >= 1)).toBe(true);
    await shown(tab, 'tiles-clusters');
    await tab.evaluate('window.isIdle = false; map.jumpTo({ center: [16.9, 52.4], zoom: 8 })');
    await expectSoon(tab, 'window.isIdle');
    const bounds = await tab.evaluate<[number, number][]>('map.getBounds().toArray()');
    const [[west, south], [east, north]] = bounds as [[number, number], [number, number]];
    const inside = markers.filter(
      ({ position: { lng, lat } }) => west < lng && lng < east && south < lat && lat < north,
    );
    const keys = new Set((await drawn('markers')).map(({ key }) => key));
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.filter(({ key }) => !keys.has(key))).toEqual([]);
    expect(faults).toEqual([]);
    await shown(tab, 'tiles-markers');
  });
});
