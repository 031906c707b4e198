import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

import { until } from '../live/support.js';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Draws WebGL without a graphics card.
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  // Everything except WebGL is drawn faster without it.
  '--disable-gpu-compositing',
];
/** A small screen with a low resolution: without a graphics card each pixel takes long. */
export const SMALL = { viewport: { width: 1024, height: 640 }, deviceScaleFactor: 0.5 } as const;
const FRAME_MS = 100;
/** Evaluating an expression in a page takes a few milliseconds of CPU time. */
const ASK_EVERY_MS = 100;
const SCREENSHOTS = fileURLToPath(new URL('../../screenshots/', import.meta.url));

export const hasChromium = existsSync(CHROMIUM);
if (!hasChromium) console.warn(`SKIPPED: no browser, ${CHROMIUM} is missing`);

export async function openBrowser(): Promise<Browser> {
  await mkdir(SCREENSHOTS, { recursive: true });
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Adds the errors of a page, and those that it writes to its console, to a list. */
export function collectFaults(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
}

/** Waits until an expression is true in a page. The map page's security policy forbids Playwright's own way. */
export function expectSoon(page: Page, expression: string): Promise<void> {
  return until(() => page.evaluate<boolean>(`Boolean(${expression})`), ASK_EVERY_MS);
}

/** Waits by a page's own timers: those that it has set for earlier have run then, also on a busy machine. */
export async function afterTimers(page: Page, milliseconds: number): Promise<void> {
  await page.evaluate(`new Promise((done) => setTimeout(done, ${milliseconds}))`);
}

/** Lets pages draw ten frames a second at most: without a graphics card each frame of a map takes long. */
export async function drawSlowly(context: BrowserContext): Promise<void> {
  await context.addInitScript(`{
    globalThis.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), ${FRAME_MS});
    globalThis.cancelAnimationFrame = clearTimeout;
  }`);
}

/** Saves a screenshot of a page as screenshots/NAME.png once its map is idle, and returns the picture. */
export async function shoot(page: Page, name: string): Promise<Buffer> {
  await page.evaluate(`new Promise((done) => {
    globalThis.cellport.map.once('idle', () => done());
    globalThis.cellport.map.triggerRepaint();
  })`);
  return page.screenshot({ path: `${SCREENSHOTS}${name}.png` });
}

/** Saves a screenshot of a page if CELLPORT_SCREENSHOTS is set, because that takes seconds without a graphics card. */
export async function keep(page: Page, name: string): Promise<void> {
  if (process.env['CELLPORT_SCREENSHOTS']) await shoot(page, name);
}

/** The number of pixels in which two pictures of the same size differ by more than noise. */
export async function differingPixels(browser: Browser, one: Buffer, other: Buffer): Promise<number> {
  const page = await browser.newPage();
  const pictures = [one, other].map((each) => each.toString('base64'));
  // A string: the page's globals are not those of this file.
  const count = await page.evaluate<number>(`(async ([a, b]) => {
    const pixelsOf = async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      context.drawImage(bitmap, 0, 0);
      return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    };
    const [left, right] = [await pixelsOf(a), await pixelsOf(b)];
    let differing = 0;
    for (let at = 0; at < left.length; at += 4) {
      const far = [0, 1, 2].some((channel) => Math.abs(left[at + channel] - right[at + channel]) > 24);
      if (far) differing += 1;
    }
    return differing;
  })(${JSON.stringify(pictures)})`);
  await page.close();
  return count;
}
