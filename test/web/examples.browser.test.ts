import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { build, preview, type PreviewServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startServer, type LiveServer } from '../http/live-server.js';
import { until } from '../live/support.js';
import { makeCollection, realMarkers } from '../map/fixture.js';
import { variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';
import { differingPixels, hasChromium, openBrowser } from './browser.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const configFile = join(root, 'examples/maps/vite.config.ts');
const SIZE = { width: 700, height: 500 };
const SCREEN = { viewport: SIZE, deviceScaleFactor: 0.5 };

describe.skipIf(!hasChromium)('the example pages in a browser', async () => {
  const db = await testDatabase();
  let server: LiveServer;
  let pages: PreviewServer;
  let browser: Browser;
  const outDir = temporaryFolder();
  let url = '';

  beforeAll(async () => {
    await makeCollection(db, { key: 'cities' }, realMarkers(100));
    server = await startServer(db, { allowedOrigins: ['*'] });
    await build({ configFile, build: { outDir } });
    const proxy = { '/graphql': { target: server.url, ws: true } };
    pages = await preview({ configFile, build: { outDir }, preview: { host: '127.0.0.1', port: 0, proxy } });
    url = pages.resolvedUrls?.local[0] ?? '';
    await addStandalone(outDir, url, server.url);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await pages.close();
    await server.close();
  });

  /** The requests and responses of a page, and its requests to other hosts. */
  async function watched(path: string) {
    const page = await browser.newPage(SCREEN);
    page.setDefaultTimeout(60_000);
    const seen = { isExpanded: false, zooms: [] as number[], contents: [] as Content[] };
    const elsewhere: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      if (![url, server.url, 'blob:'].some((known) => request.url().startsWith(known))) elsewhere.push(request.url());
    });
    page.on('response', async (response) => {
      const request = response.request();
      if (!request.url().endsWith('/graphql') || request.method() !== 'POST') return;
      const { query, variables } = request.postDataJSON() as { query: string; variables: { zoom: number } };
      if (query.includes('ClientExpand')) seen.isExpanded = true;
      else {
        // A page that is closed takes the body of its last response with it.
        const body = (await response.json().catch(() => undefined)) as
          { data: Record<string, { content: Content }> } | undefined;
        if (body === undefined) return;
        seen.contents.push(...Object.values(body.data).map(({ content }) => content));
        seen.zooms.push(variables.zoom);
      }
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${url}${path}`);
    return { page, seen, elsewhere, faults };
  }

  /** The page as it looks without any responses. */
  async function emptyPage(path: string) {
    const page = await browser.newPage(SCREEN);
    await page.route('**/graphql', (route) => route.abort());
    await Promise.all([page.waitForRequest('**/graphql'), page.goto(`${url}${path}`)]);
    const picture = await page.screenshot();
    await page.close();
    return picture;
  }

  it.each(variants(['maplibre.html', 'leaflet.html', 'standalone/maplibre.html', 'standalone/leaflet.html']))(
    '%s draws the server’s response, and zooms into a cluster',
    async (path) => {
      const empty = await emptyPage(path);
      const { page, seen, elsewhere, faults } = await watched(path);
      await until(() => seen.zooms.length > 0);
      expect(seen.zooms[0]).toBe(4);
      await until(async () => (await differingPixels(browser, empty, await page.screenshot())) > 1_250, 500);
      const { x, y } = freeCluster(seen.contents);
      // Drawn features can be clicked only a moment later. The map then flies into the cluster.
      while (!seen.isExpanded) {
        await page.mouse.click(x, y);
        await page.waitForTimeout(1_000);
      }
      await until(() => Math.max(...seen.zooms) > 4);
      expect([elsewhere, faults]).toEqual([[], []]);
      await page.close();
    },
  );
});

/** One gray pixel. */
const GRAY_TILE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGN4BwAA8ADv8GkuoQAAAABJRU5ErkJggg==';

/** Adds the pages to copy for a server at another origin. What they load from unpkg is that of `node_modules`. */
async function addStandalone(outDir: string, url: string, api: string): Promise<void> {
  const folder = join(outDir, 'standalone');
  await cp(join(root, 'examples/standalone'), folder, { recursive: true });
  await symlink(join(root, 'node_modules'), join(outDir, 'npm'));
  for (const name of ['maplibre', 'leaflet']) {
    const page = join(folder, `${name}.html`);
    const html = (await readFile(page, 'utf8'))
      .replace('http://127.0.0.1:4000', api)
      .replace('https://tile.openstreetmap.org/{z}/{x}/{y}.png', GRAY_TILE)
      .replaceAll(/https:\/\/unpkg\.com\/([\w-]+)@[\d.]+/g, `${url}npm/$1`);
    await writeFile(page, html);
  }
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: {
        input: join(root, 'src/client/public.ts'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: 'cellport.js' },
      },
    },
  });
}

interface LngLat {
  readonly lng: number;
  readonly lat: number;
}

interface Content {
  readonly markers: readonly { readonly position: LngLat }[];
  readonly clusters: readonly { readonly position: LngLat; readonly count: number }[];
}

/** The screen position of the largest cluster not covered by a marker, at the examples' zoom 4 over 10° E, 50° N. */
function freeCluster(contents: readonly Content[]): { x: number; y: number } {
  const [centerX, centerY] = worldPixels({ lng: 10, lat: 50 });
  const onPage = ({ position }: { position: LngLat }) => {
    const [x, y] = worldPixels(position);
    return { x: SIZE.width / 2 + x - centerX, y: SIZE.height / 2 + y - centerY };
  };
  const markers = contents.flatMap((content) => content.markers.map(onPage));
  const clusters = contents.flatMap((content) => content.clusters).toSorted((a, b) => b.count - a.count);
  const free = clusters.map(onPage).find(({ x, y }) => {
    const isOnPage = x > 50 && x < SIZE.width - 50 && y > 50 && y < SIZE.height - 50;
    return isOnPage && markers.every((marker) => Math.hypot(marker.x - x, marker.y - y) > 15);
  });
  if (free === undefined) throw new Error('no cluster is on the page');
  return free;
}

/** Web Mercator, whose world is 512 pixels wide at zoom 0. */
function worldPixels({ lng, lat }: LngLat): [x: number, y: number] {
  const size = 512 * 2 ** 4;
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI);
  return [(lng / 360) * size, -y * size];
}
