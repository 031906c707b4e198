// `npm run screenshot`: takes the picture of README, docs/map.png, of the real page with demo data. It starts a server on a
// free port, and stops it. The data are those of `npm start` in .cellport, if loaded, otherwise they are loaded into a
// temporary folder.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const PICTURE = join(root, 'docs/map.png');
const MOST_BYTES = 600_000;
const SIZE = { width: 1280, height: 800 };
/** Pixels to a px; the first of these whose file is small enough. */
const SHARPNESS = [1.5, 1.25, 1];
const [SHARPEST] = SHARPNESS;
/** Loading the demo data takes a quarter of a minute, on a busy machine some minutes. */
const LOADED_WITHIN_MS = 900_000;
/** A map without a graphics card, on a machine that does other things, too. */
const DRAWN_WITHIN_MS = 180_000;
const BETWEEN_LOOKS_MS = 1_500;
const ASKED_WITHIN_MS = 10_000;

/** Zoom, latitude and longitude of what is looked at, one place after the other, so that there is a history to show. */
const PLACES = ['4/50/25', '5.3/48/10', '5.3/47.5/12', '6.2/46.5/8', '6.2/46.5/6.5', '7.2/47/4', '7.4/41.3/1.5'];

/** Serves the demo on a free port. Resolves with its address once the data are there. */
function serve(dataDir) {
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', '--demo'], {
    cwd: root,
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', CELLPORT_ENGINE: 'embedded', CELLPORT_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error('the demo data were not loaded in time')), LOADED_WITHIN_MS);
    child.stdout.on('data', (text) => {
      process.stderr.write(text);
      said += text;
      const address = /^Serving\s+(http:\S+)/m.exec(said)?.[1];
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

/** Waits until the page looks the same twice. */
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

/** Opens the page with Explain on, and walks over the map. */
async function walk(browser, url) {
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: SHARPEST, colorScheme: 'light' });
  page.setDefaultTimeout(DRAWN_WITHIN_MS);
  const [first, ...others] = PLACES.map((place) => `#at=${place}&on=cities`);
  await page.goto(`${url}/${first}`);
  await page.getByRole('button', { name: /^Explain/ }).click();
  await page.locator('#explain tbody tr').first().waitFor();
  for (const hash of others) {
    // The page sends no request for a view that it has already loaded.
    const answered = page.waitForResponse('**/graphql', { timeout: ASKED_WITHIN_MS }).catch(() => undefined);
    await page.evaluate((next) => void (location.hash = next), hash);
    await answered;
    await settled(page);
  }
  return page;
}

/** The page as it is as a PNG. It is not opened anew for another sharpness: by then the server's caches would know it all. */
async function picture(page, sharpness) {
  const session = await page.context().newCDPSession(page);
  const clip = { x: 0, y: 0, ...SIZE, scale: sharpness / SHARPEST };
  const { data } = await session.send('Page.captureScreenshot', { format: 'png', clip });
  return Buffer.from(data, 'base64');
}

await build({ ifNeeded: true });
const loaded = existsSync(join(root, '.cellport/dynamodb'));
const dataDir = loaded ? join(root, '.cellport') : await mkdtemp(join(tmpdir(), 'cellport-screenshot-'));
const server = serve(dataDir);
let browser;
try {
  const url = await server.url;
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
  const page = await walk(browser, url);
  for (const sharpness of SHARPNESS) {
    const png = await picture(page, sharpness);
    console.error(`${png.length} bytes at ${sharpness} pixels to the px`);
    if (png.length >= MOST_BYTES) continue;
    await writeFile(PICTURE, png);
    break;
  }
} finally {
  await browser?.close();
  await server.stop();
  if (!loaded) await rm(dataDir, { recursive: true, force: true });
}
