import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { BUILT_FILES } from '../../src/server/services.js';
import { menu, tabs } from '../../web/graphiql/examples.js';
import { startServer } from '../http/live-server.js';
import { inTurn } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { accessibilityFaults } from './accessibility.js';
import { afterTimers, collectFaults, hasChromium, openBrowser, SMALL } from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';

/**
 * Waits for the editor, which loads after tabs and button: clicks before that show the first example. It shows the last tab
 * of the page before.
 */
const editorIsReady = (page: Page) =>
  page.locator('.graphiql-query-editor .view-lines', { hasText: 'query' }).waitFor({ timeout: 50_000 });

/** GraphiQL's own: its tabs contain buttons, to select and to close. No setting changes that. */
const EXEMPT = { 'nested-interactive': '.graphiql-tab' };

/** Without the map page, / leads to GraphiQL. */
const { staticDir } = BUILT_FILES;

describe.skipIf(!hasChromium)('the GraphiQL page in a browser', async () => {
  const turn = inTurn(3);
  const db = await testDatabase('readable', { stream: true });
  let browser: Browser;
  /** One for all tests, so that the editor is compiled once. */
  let context: BrowserContext;
  let server: MapServer;

  beforeAll(async () => {
    server = await startMapServer(db, { staticDir });
    await server.ask(`mutation { createCollection(input: { key: "cities", name: "Cities" }) { id } }`);
    const London = `key: "2643743", name: "London", position: { lng: -0.12574, lat: 51.50853 }, properties: { population: 7556900 }`;
    await server.ask(`mutation { createMarker(input: { collection: "cities", ${London} }) { id } }`);
    browser = await openBrowser();
    context = await browser.newContext({ ...SMALL, reducedMotion: 'reduce' });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  /** Opens the page, and collects its requests to other hosts and its errors. */
  async function open(colorScheme: 'light' | 'dark') {
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme });
    page.setDefaultTimeout(50_000);
    const elsewhere: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${server.url}/`)) elsewhere.push(request.url());
    });
    page.on('response', (answer) => {
      if (answer.status() >= 400) faults.push(`${answer.status()} for ${answer.request().postData()}`);
    });
    collectFaults(page, faults);
    const response = await page.goto(`${server.url}/`);
    await editorIsReady(page);
    return { page, response, elsewhere, faults };
  }

  it.runIf(turn())(
    'loads from this server only, without violating its policy, and runs examples of tabs and menu',
    async () => {
      const { page, response, elsewhere, faults } = await open('light');
      expect(page.url()).toBe(`${server.url}/graphiql/`);
      expect(await page.locator('#no-schema').isVisible()).toBe(false);
      expect(response?.headers()['content-security-policy']).toMatch(/script-src 'self'(;|$)/);
      const tab = page.locator('.graphiql-tab');
      const named = tab.locator('.graphiql-tab-button');
      expect(await named.allTextContents()).toEqual(tabs.map(({ name }) => name));
      const run = page.locator('.graphiql-execute-button');
      const answer = (text: string) => page.locator('.result-window', { hasText: text }).waitFor();
      await run.click();
      await answer('London');
      expect(await accessibilityFaults(page, { schemes: ['light'], exempt: EXEMPT })).toEqual([]);

      // GraphiQL reads the operation's name a moment after the text; until then it sends the former one with it.
      const edited = async (name: string) => {
        await page.locator('.graphiql-query-editor', { hasText: new RegExp(`query\\s${name}\\s`) }).waitFor();
        await afterTimers(page, 1_000);
      };
      await tab.getByText('WhatItReads').click();
      await edited('WhatItReads');
      const asked = page.waitForRequest((request) => request.postData()?.includes('WhatItReads') ?? false);
      await run.click();
      expect((await asked).headers()['x-cellport-explain']).toBe('1');

      await page.getByRole('button', { name: 'More examples' }).click();
      expect(await page.getByRole('menuitem').count()).toBe(menu.length);
      await page.getByRole('menuitem', { name: 'Collections' }).click();
      await tab.nth(tabs.length).getByText('Collections').waitFor();
      await edited('Collections');
      await run.click();
      await answer('idStrategy');
      await page.getByRole('button', { name: /Documentation Explorer/ }).click();
      await page.locator('.graphiql-doc-explorer a').first().waitFor();
      expect(await accessibilityFaults(page, { schemes: ['light'], exempt: EXEMPT })).toEqual([]);
      expect({ elsewhere, faults }).toEqual({ elsewhere: [], faults: [] });
      await page.close();
    },
  );

  it.runIf(turn())('explains that introspection is disabled, and still runs its examples', async () => {
    const server = await startServer(db, { introspection: false, staticDir, status: () => undefined });
    const page = await context.newPage();
    await page.goto(`${server.url}/graphiql/`);
    await page.locator('#no-schema', { hasText: 'CELLPORT_INTROSPECTION' }).waitFor({ timeout: 50_000 });
    await editorIsReady(page);
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'London' }).waitFor({ timeout: 50_000 });
    expect(await page.locator('.result-window', { hasText: 'introspection' }).count()).toBe(0);
    await page.close();
    await server.close();
  });

  it.runIf(turn())('runs subscriptions, and shows their results', async () => {
    const { page, faults } = await open('dark');
    const [make] = tabs.filter(({ name }) => name === 'MakeYourOwn');
    await server.ask(make?.query ?? '');
    await page.locator('.graphiql-tab').getByText('WatchLive').click();
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'markerChanged' }).waitFor();
    // Until GraphiQL has read the operation's name, too.
    await afterTimers(page, 1_000);
    await page.locator('.graphiql-execute-button').click();
    // The subscription starts a moment later.
    const update = `mutation { updateMarker(input: { id: "marker::demo-parks::demo-cytadela", name: "Cytadela" }) { id } }`;
    const changing = setInterval(() => void server.ask(update), 500);
    await page.locator('.result-window', { hasText: 'UPDATED' }).waitFor();
    clearInterval(changing);
    // GraphiQL's editor does not follow a change of the system's color scheme.
    expect(await accessibilityFaults(page, { schemes: ['dark'], exempt: EXEMPT })).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });
});
