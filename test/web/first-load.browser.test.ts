import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openCountries } from '../../src/ingest/zones/countries.js';
import { BUILT_FILES } from '../../src/server/services.js';
import { testDatabase } from '../support/test-database.js';
import { expectSoon, hasChromium, openBrowser } from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';

/** This long after its start, a server knows all changes that a page may lack whose subscription starts late. */
const KNOWN_AFTER_MS = 6_000;

const VIEW = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5 } as const;

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

/**
 * How many times a page loads its first view: again if it connected so late that the server could not tell it all changes
 * since, which happens on a machine that is busy with other tests.
 */
function recordLoads(page: Page): () => number {
  let [requestedAt, knownFrom] = [Infinity, 0];
  page.on('request', (request) => {
    if (request.postData()?.includes('content: auto')) requestedAt = Math.min(requestedAt, Date.now());
  });
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const { type, payload: known } = JSON.parse(String(payload)) as {
        type: string;
        payload: { changesFrom: string };
      };
      if (type === 'connection_ack') knownFrom = Date.parse(known.changesFrom);
    }),
  );
  return () => (requestedAt > knownFrom ? 1 : 2);
}

/** Waits until the map shows its first view. */
async function drawn(page: Page): Promise<void> {
  await expectSoon(page, 'globalThis.cellport?.layers.some(({ states }) => states.length > 0)');
  await expectSoon(
    page,
    'cellport.layers.every(({ states }) => states.every((each) => !each.loading)) && cellport.map.loaded()',
  );
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
  });
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
    const page = await browser.newPage(VIEW);
    const views = recordViews(page);
    const loads = recordLoads(page);
    // Like a slow network: the subscription to changes starts after the first request.
    await page.addInitScript(`{
      const { send } = WebSocket.prototype;
      WebSocket.prototype.send = function (text) { setTimeout(() => send.call(this, text), 1_000); };
    }`);
    await page.goto(server.url);
    await drawn(page);
    await quiet();
    // Both at once: the zones do not wait for the subscription to changes.
    expect(views.toSorted()).toEqual([...Array<string>(loads()).fill('auto of cities'), 'zones of cities']);
    expect(server.bytesSent() - before).toBeLessThan(600_000);
    await page.close();
  });

  it('lets browsers keep every file whose name or folder has a hash, and there are few others', async () => {
    for (const [prefix, root] of [
      ['/map/', BUILT_FILES.mapDir],
      ['/graphiql/', BUILT_FILES.staticDir],
    ] as const) {
      const built = readdirSync(root!, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile() && !/\.(br|gz)$/.test(each.name))
        .map(({ parentPath, name }) => relative(root!, join(parentPath, name)));
      // Those of lower zooms, as they are more than a thousand.
      const files = built.filter((name) => !/^tiles\/\w+\/[3-9]/.test(name));
      expect(files.length).toBeGreaterThan(30);
      const revalidated: string[] = [];
      for (const file of files) {
        const { status, headers } = await fetch(server.url + prefix + file);
        expect([file, status, headers.get('vary')]).toEqual([file, 200, 'Accept-Encoding']);
        if (headers.get('cache-control') === 'public, max-age=31536000, immutable')
          expect(file).toMatch(/^(assets\/.+-[\w-]{8}\.\w+|tiles\/[0-9a-f]{8}\/.+)$/);
        else revalidated.push(`${file}: ${headers.get('cache-control')}`);
      }
      const ofMap = ['documents.json: no-cache', 'index.html: no-cache', 'preview.jpg: no-cache'];
      expect(revalidated.toSorted()).toEqual(prefix === '/map/' ? ofMap : ['index.html: no-cache']);
    }
  });

  it('leaves only the page and its data for the second load of the map', async () => {
    const page = await browser.newPage(VIEW);
    for (const _ of ['first', 'second']) {
      await page.goto(server.url);
      await drawn(page);
    }
    const requested = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').filter(({ transferSize }) => transferSize > 0).map(({ name }) => name)`,
    );
    expect(requested.filter((url) => url.includes('/map/'))).toEqual([]);
    await page.close();
  });
});
