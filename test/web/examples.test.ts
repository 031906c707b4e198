import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { type PreviewServer, build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type LiveServer, startServer } from '../http/live-server.js';
import { until } from '../live/support.js';
import { makeCollection, realMarkers } from '../map/fixture.js';
import { testDatabase } from '../support/test-database.js';
import { differingPixels, hasChromium, openBrowser } from './browser.js';

const configFile = fileURLToPath(new URL('../../examples/maps/vite.config.ts', import.meta.url));
const SIZE = { width: 700, height: 500 };

describe.skipIf(!hasChromium)('the example pages in a browser', async () => {
  const db = await testDatabase();
  let server: LiveServer;
  let pages: PreviewServer;
  let browser: Browser;
  let outDir = '';
  let url = '';

  beforeAll(async () => {
    outDir = await mkdtemp(join(tmpdir(), 'cellport-examples-'));
    await makeCollection(db, { key: 'cities' }, realMarkers(40));
    server = await startServer(db);
    await build({ configFile, build: { outDir } });
    const proxy = { '/graphql': { target: server.url, ws: true } };
    pages = await preview({ configFile, build: { outDir }, preview: { host: '127.0.0.1', port: 0, proxy } });
    url = pages.resolvedUrls?.local[0] ?? '';
    browser = await openBrowser();
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await pages.close();
    await server.close();
    await rm(outDir, { recursive: true });
  });

  /** Zooms of what a page has asked for, and what it has asked of others. */
  async function watched() {
    const page = await browser.newPage({ viewport: SIZE });
    page.setDefaultTimeout(60_000);
    let isExpanded = false;
    const zooms: number[] = [];
    const elsewhere: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) elsewhere.push(request.url());
    });
    page.on('requestfinished', (request) => {
      if (request.url() !== `${url}graphql`) return;
      const { query, variables } = request.postDataJSON() as { query: string; variables: { zoom: number } };
      if (query.includes('ClientExpand')) isExpanded = true;
      else zooms.push(variables.zoom);
    });
    page.on('pageerror', (error) => faults.push(error.message));
    return { page, zooms, expanded: () => isExpanded, elsewhere, faults };
  }

  it.each(['maplibre', 'leaflet'])('%s draws what the server answers, and zooms into a cluster', async (name) => {
    const { page, zooms, expanded, elsewhere, faults } = await watched();
    const empty = await browser.newPage({ viewport: SIZE });
    await empty.route('**/graphql', (route) => route.abort());
    await empty.goto(`${url}${name}.html`);
    await page.goto(`${url}${name}.html`);
    await until(() => zooms.length > 0);
    expect(zooms[0]).toBe(4);
    await empty.waitForTimeout(1_500);
    await page.waitForTimeout(1_500);
    expect(await differingPixels(browser, await empty.screenshot(), await page.screenshot())).toBeGreaterThan(5_000);
    // Clusters stand close to one another here: one is hit within some clicks. The map then flies into it.
    for (let at = 0; at < 200 && !expanded(); at++) {
      await page.mouse.click(100 + ((at * 47) % 500), 90 + ((at * 31) % 330));
      await page.waitForTimeout(100);
    }
    expect(expanded()).toBe(true);
    await until(() => Math.max(...zooms) > 4);
    expect([elsewhere, faults]).toEqual([[], []]);
    await page.close();
    await empty.close();
  });
});
