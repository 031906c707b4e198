// `npm run screenshot` takes the pictures of the documentation with demo data: docs/map.webp, which moves, and
// docs/graphiql.png; and the one that previews of links to the page show. It starts a server on a free port and stops it
// afterwards. It uses the data in CELLPORT_DATA_DIR or in .cellport, which `npm start` has loaded; otherwise it loads them
// into a temporary folder. `npm run screenshot -- preview` takes one of map, graphiql and preview.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

import { animate } from './animation.mjs';
import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const GRAPHIQL = join(root, 'docs/graphiql.png');
/** Shown in previews of links to the page. */
const PREVIEW = join(root, 'web/map/public/preview.jpg');
const ANIMATION = { path: join(root, 'docs/map.webp'), width: 960, mostBytes: 1_500_000 };
const SIZE = { width: 1280, height: 800 };
const PREVIEW_SIZE = { width: 1200, height: 630 };
const PIXEL_RATIO = 1.5;
/** Loading the demo data takes 15 seconds, on a busy machine some minutes. */
const LOADED_WITHIN_MS = 900_000;
/** Enough to draw a map without a GPU on a busy machine. */
const DRAWN_WITHIN_MS = 180_000;
const BETWEEN_LOOKS_MS = 1_500;
const REQUEST_WITHIN_MS = 10_000;

/** Views in the order visited (zoom, latitude, longitude), so that the Explain panel has a history to show. */
const PLACES = ['4/50/25', '5.3/48/10', '5.3/47.5/12', '6.2/46.5/8', '6.2/46.5/6.5', '7.2/47/4', '7.4/41.3/1.5'];

/** What the animation shows after the last view: there and back, so that it shows reads and what a cache answers. */
const LEGS = [
  { zoom: 7.4, lat: 41.3, lng: -1.2 },
  { zoom: 6.2, lat: 42.4, lng: 2.2 },
  { zoom: 7.4, lat: 41.3, lng: 1.5 },
];
const STEPS_PER_LEG = 9;
const STEP_MS = 110;
const REST_MS = 1_800;

/** Serves the demo on a free port; `url` resolves once the data are loaded. */
function serve(dataDir) {
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', '--demo'], {
    cwd: root,
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', CELLPORT_ENGINE: 'embedded', CELLPORT_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = new Promise((resolve, reject) => {
    let output = '';
    const late = setTimeout(() => reject(new Error('the demo data were not loaded in time')), LOADED_WITHIN_MS);
    child.stdout.on('data', (text) => {
      process.stderr.write(text);
      output += text;
      const address = /^Serving\s+(http:\S+)/m.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(late);
      resolve(address);
    });
    void ended.then((code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Waits until the server has loaded and counted the demo data. */
async function loadedBy(url) {
  const query = '{ collection(key: "cities") { count countsExact } }';
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) };
  const end = Date.now() + LOADED_WITHIN_MS;
  for (let before = 0; Date.now() < end;) {
    const { data } = await (await fetch(`${url}/graphql`, request)).json();
    const { count = 0, countsExact = false } = data?.collection ?? {};
    if (countsExact && count > 0 && count === before) return;
    before = count;
    await new Promise((resolve) => setTimeout(resolve, 5_000));
  }
  throw new Error('the demo data were not loaded in time');
}

/** Waits until two consecutive screenshots are the same. */
async function settled(page) {
  const end = Date.now() + DRAWN_WITHIN_MS;
  let before = await page.screenshot();
  while (Date.now() < end) {
    await page.waitForTimeout(BETWEEN_LOOKS_MS);
    const now = await page.screenshot();
    if (now.equals(before)) return;
    before = now;
  }
  throw new Error('the page is still loading');
}

/** Opens the page with Explain on, and visits all views. */
async function walk(browser, url) {
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: PIXEL_RATIO, colorScheme: 'light' });
  page.setDefaultTimeout(DRAWN_WITHIN_MS);
  const [first, ...others] = PLACES.map((place) => `#at=${place}&on=cities`);
  await page.goto(`${url}/${first}`);
  await page.getByRole('button', { name: /^Explain/ }).click();
  await page.locator('#explain tbody tr').first().waitFor();
  for (const hash of others) {
    // The page sends no request for a view that it has already loaded.
    const answered = page.waitForResponse('**/graphql', { timeout: REQUEST_WITHIN_MS }).catch(() => undefined);
    await page.evaluate((next) => void (location.hash = next), hash);
    await answered;
    await settled(page);
  }
  return page;
}

/** Moves the map in steps, each a view of its own, and takes a screenshot of each. */
async function film(page) {
  const frames = [{ png: await page.screenshot(), ms: REST_MS }];
  const where = '(({ lng, lat }, zoom) => ({ lng, lat, zoom }))(cellport.map.getCenter(), cellport.map.getZoom())';
  for (const to of LEGS) {
    const from = await page.evaluate(where);
    for (let step = 1; step <= STEPS_PER_LEG; step++) {
      const part = (1 - Math.cos((Math.PI * step) / STEPS_PER_LEG)) / 2;
      const [lng, lat, zoom] = ['lng', 'lat', 'zoom'].map((name) => from[name] + part * (to[name] - from[name]));
      await page.evaluate(`void cellport.map.jumpTo({ center: [${lng}, ${lat}], zoom: ${zoom} })`);
      await settled(page);
      frames.push({ png: await page.screenshot(), ms: step === STEPS_PER_LEG ? REST_MS : STEP_MS });
    }
  }
  return frames;
}

/** Takes the picture for previews of links: the map without the controls on it and beside it. */
async function preview(browser, url) {
  const page = await browser.newPage({ viewport: PREVIEW_SIZE, colorScheme: 'light' });
  await page.goto(`${url}/#at=4.3/47/9&on=cities`);
  await page.locator('#tools button').first().waitFor();
  const { width: visible } = await page.locator('#map').boundingBox();
  await page.setViewportSize({ ...PREVIEW_SIZE, width: 2 * PREVIEW_SIZE.width - visible });
  await page.evaluate(`document.querySelectorAll('.column').forEach((each) => (each.style.display = 'none'))`);
  await settled(page);
  await page.screenshot({ path: PREVIEW, type: 'jpeg', quality: 80, clip: { x: 0, y: 0, ...PREVIEW_SIZE } });
}

/** Takes the picture of GraphiQL after its first example has been run. */
async function graphiql(browser, url) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
  await page.goto(`${url}/graphiql/`);
  await page.locator('.graphiql-query-editor .view-lines', { hasText: 'pageInfo' }).waitFor();
  await page.locator('.graphiql-execute-button').click();
  await page.locator('.result-window', { hasText: 'nodes' }).waitFor();
  await page.mouse.move(0, 0);
  await settled(page);
  await page.screenshot({ path: GRAPHIQL });
}

const wanted = (name) => process.argv.length === 2 || process.argv.includes(name);
await build({ ifNeeded: true });
const given = process.env.CELLPORT_DATA_DIR ?? join(root, '.cellport');
const loaded = existsSync(join(given, 'dynamodb'));
const dataDir = loaded ? given : await mkdtemp(join(tmpdir(), 'cellport-screenshot-'));
const server = serve(dataDir);
let browser;
try {
  const url = await server.url;
  await loadedBy(url);
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
    ],
  });
  if (wanted('preview')) await preview(browser, url);
  if (wanted('graphiql')) await graphiql(browser, url);
  if (wanted('map')) {
    const page = await walk(browser, url);
    await writeFile(ANIMATION.path, await animate(browser, await film(page), ANIMATION));
  }
} finally {
  await browser?.close();
  await server.stop();
  if (!loaded) await rm(dataDir, { recursive: true, force: true });
}
