import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openCountries } from '../../src/ingest/zones/countries.js';
import { testDatabase } from '../support/test-database.js';
import { hasChromium, openBrowser, expectSoon } from './browser.js';
import { type MapServer, startMapServer } from './map-server.js';

/** This long after its start, a server knows all changes that a page may lack whose subscription starts late. */
const KNOWN_AFTER_MS = 6_000;

/** The page's requests about its view, one line per request: collection and content. */
function recordViews(page: Page): string[] {
  const views: string[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/graphql')) return;
    const { query, variables } = request.postDataJSON() as { query: string; variables?: { collection?: string } };
    const content = /content: (\w+)/.exec(query)?.[1];
    if (content !== undefined) views.push(`${content} of ${variables?.collection}`);
  });
  return views;
}

describe.skipIf(!hasChromium)('the first load of a built page', async () => {
  const db = await testDatabase('readable', { stream: true });
  let server: MapServer;
  let browser: Browser;
  let startedAt = 0;

  /** Waits until the server has sent nothing for a second. */
  async function quiet(): Promise<void> {
    let before = -1;
    while (before !== server.bytesSent()) {
      before = server.bytesSent();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  beforeAll(async () => {
    const writer = await startMapServer(db);
    await writer.ask(`mutation { createCollection(input: { key: "cities", name: "Cities" }) { id } }`);
    const markers = Array.from({ length: 90 }, (_, index) => {
      return { name: `City ${index}`, position: { lng: 4 * index - 178, lat: (index * 37) % 70 } };
    });
    await writer.ask(
      `mutation ($markers: [MarkerInput!]!) { createMarkers(collection: "cities", markers: $markers) { markers { id } } }`,
      { markers: markers.map((marker, index) => ({ ...marker, key: String(index) })) },
    );
    for (const { key, name, geometry } of openCountries().filter((each) => each.name === 'Poland')) {
      await writer.ask(`mutation ($input: CreateZoneInput!) { createZone(input: $input) { id } }`, {
        input: { collection: 'cities', key, name, geometry: geometry() },
      });
    }
    await writer.counted();
    await writer.close();
    // It does not send the page the changes received by the other server: those are counted.
    server = await startMapServer(db);
    startedAt = Date.now();
    browser = await openBrowser();
  }, 600_000);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  it('is under 2.2 MB for GraphiQL', async () => {
    const before = server.bytesSent();
    const page = await browser.newPage();
    await page.goto(`${server.url}/graphiql/`);
    await page.locator('.graphiql-query-editor .view-lines').waitFor({ timeout: 50_000 });
    await quiet();
    expect(server.bytesSent() - before).toBeLessThan(2_200_000);
    await page.close();
  });

  it('is under 600 kB for the map, which requests its view and its zones once', async () => {
    await new Promise((resolve) => setTimeout(resolve, startedAt + KNOWN_AFTER_MS - Date.now()));
    const before = server.bytesSent();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5 });
    const views = recordViews(page);
    // Like a slow network: the subscription to changes starts after the first request.
    await page.addInitScript(`{
      const { send } = WebSocket.prototype;
      WebSocket.prototype.send = function (text) { setTimeout(() => send.call(this, text), 1_000); };
    }`);
    await page.goto(server.url);
    await expectSoon(page, 'globalThis.cellport?.layers.some(({ states }) => states.length > 0)');
    await expectSoon(
      page,
      'cellport.layers.every(({ states }) => states.every((each) => !each.loading)) && cellport.map.loaded()',
    );
    await quiet();
    // Both at once: the zones do not wait for the subscription to changes.
    expect(views.toSorted()).toEqual(['auto of cities', 'zones of cities']);
    expect(server.bytesSent() - before).toBeLessThan(600_000);
    await page.close();
  });
});
