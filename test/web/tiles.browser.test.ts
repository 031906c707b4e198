import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startServer, type LiveServer } from '../http/live-server.js';
import { makeCollection, realMarkers } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { collectFaults, expectSoon, hasChromium, openBrowser, SMALL } from './browser.js';

/** Saves a picture if CELLPORT_SCREENSHOTS is set. */
async function shown(tab: Page, name: string): Promise<void> {
  if (process.env['CELLPORT_SCREENSHOTS']) await tab.screenshot({ path: `screenshots/${name}.png` });
}

/** A page of another site: MapLibre as it is published, and a style. */
const page = (
  tileJson: string,
) => `<!doctype html><title>Map</title><link rel="icon" href="data:," /><div id="map" style="height: 600px"></div>
<script type="module">
  import { Map } from '/maplibre-gl.mjs';
  const circle = (id, color) => ({
    id, type: 'circle', source: 'cities', 'source-layer': id,
    paint: { 'circle-color': color, 'circle-radius': 8 },
  });
  const sources = { cities: { type: 'vector', url: '${tileJson}' } };
  const style = { version: 8, sources, layers: [circle('clusters', '#b00'), circle('markers', '#06c')] };
  window.map = new Map({ container: 'map', style, center: [10, 48], zoom: 3, fadeDuration: 0 });
  window.map.on('idle', () => { window.isIdle = true; });
</script>`;

describe.skipIf(!hasChromium)('a stock MapLibre style', () => {
  const markers = realMarkers(40);
  const faults: string[] = [];
  let api: LiveServer;
  let site: Server;
  let browser: Browser;

  beforeAll(async () => {
    const db = memoryDatabase();
    await makeCollection(db, { key: 'cities' }, markers);
    api = await startServer(db, { allowedOrigins: ['*'] });
    const answer = async (url: string, response: ServerResponse) => {
      if (url === '/') return response.end(page(`${api.url}/tiles/cities.json`));
      const file = new URL(`../../node_modules/maplibre-gl/dist/${basename(url)}`, import.meta.url);
      const text = await readFile(file).catch(() => undefined);
      response.writeHead(text ? 200 : 404, { 'content-type': 'text/javascript' });
      return response.end(text);
    };
    site = createServer(({ url = '/' }, response) => void answer(url, response));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    site.close();
    await api.close();
  });

  test('draws clusters and, closer, every marker, from the URL of TileJSON', async () => {
    const tab = await browser.newPage(SMALL);
    collectFaults(tab, faults);
    await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
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
