import type { Map as MapLibre } from 'maplibre-gl';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { RefreshableMap } from '../../src/client/public.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { bundleClient } from '../support/bundle-client.js';
import { inTurn } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { collectFaults, expectSoon, hasChromium, openBrowser, SMALL } from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';
import { stockSite } from './stock-site.js';

const turn = inTurn(2);
/** What is used of a map is what MapLibre has: the type checker compares them. */
({}) as MapLibre satisfies RefreshableMap;

describe.skipIf(!hasChromium)('liveTiles', async () => {
  const db = await testDatabase('readable', { stream: true });
  const faults: string[] = [];
  let server: MapServer;
  let page: Awaited<ReturnType<typeof stockSite>>;
  let browser: Browser;

  beforeAll(async () => {
    const now = new Date().toISOString();
    const collection = await createCollection(newCall(db), { key: 'cities', name: 'Cities' }, now);
    const markers = [
      { key: 'moves', position: { lng: 8, lat: 47 } },
      { key: 'stays', position: { lng: 12, lat: 49 } },
    ];
    await createMarkers(newCall(db), collection, markers, now);
    server = await startMapServer(db, undefined, { allowedOrigins: ['*'] });
    await server.counted();
    const script = `
      import { liveTiles } from '/cellport.js';
      window.live = liveTiles(map, { url: '${server.url}/tiles/cities', source: 'cities' });`;
    page = await stockSite(`${server.url}/tiles/cities.json`, script, (await bundleClient()).code);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    page.site.close();
    await server.close();
  });

  const move = (lng: number, lat: number) =>
    server.ask(
      'mutation ($to: PointInput!) { updateMarker(input: { id: "marker::cities::moves", position: $to }) { version } }',
      { to: { lng, lat } },
    );
  const isDrawnAt = (lng: number, lat: number) => `[...map.queryRenderedFeatures({ layers: ['markers'] })].some(
    ({ properties, geometry }) =>
      properties.key === 'moves' &&
      Math.hypot(geometry.coordinates[0] - ${lng}, geometry.coordinates[1] - ${lat}) < 0.1)`;

  test('shows where a marker is moved to, in view and where the map was before, without a reload', async ({
    skip,
    task,
  }) => {
    skip(!turn(task));
    const tab = await browser.newPage(SMALL);
    collectFaults(tab, faults);
    let opened = 0;
    tab.on('framenavigated', () => (opened += 1));
    await tab.goto(page.url);
    await expectSoon(tab, `window.isIdle && ${isDrawnAt(8, 47)}`);
    await move(14, 51);
    await expectSoon(tab, isDrawnAt(14, 51));
    expect(await tab.evaluate(`${isDrawnAt(8, 47)}`)).toBe(false);
    // MapLibre keeps the tiles that it has just shown.
    await tab.evaluate('window.isIdle = false; map.jumpTo({ center: [-100, -30] })');
    await expectSoon(tab, 'window.isIdle');
    await tab.evaluate(
      `fetch('${server.url}/tiles/cities/changes').then(({ body }) => { window.changes = body.getReader(); })`,
    );
    await move(6, 45);
    await tab.evaluate(`(async () => {
      for (let text = ''; !text.includes('changed');) text += new TextDecoder().decode((await changes.read()).value);
      await changes.cancel();
    })()`);
    await tab.evaluate('map.jumpTo({ center: [10, 48] })');
    await expectSoon(tab, isDrawnAt(6, 45));
    expect([opened, faults]).toEqual([1, []]);
    await tab.evaluate('live.close()');
    await tab.close();
  });
});
