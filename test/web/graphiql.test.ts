import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, parse, validate, visit } from 'graphql';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { buildHttp } from '../../src/http/server.js';
import { createHub } from '../../src/live/hub.js';
import { silentLog } from '../../src/log.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { newCall } from '../../src/store/request/meter.js';
import { startServer } from '../http/live-server.js';
import { markerRecord } from '../live/records.js';
import { testDatabase } from '../support/test-database.js';
import { hasChromium, openBrowser } from './browser.js';
import { createServices, createHttpServer } from '../../src/server/services.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = (path: string) =>
  readdirSync(join(root, path))
    .toSorted()
    .map((name) => join(root, path, name));
const examples = [...folder('web/graphiql/examples'), ...folder('examples/sensors')]
  .filter((path) => path.endsWith('.graphql'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

describe('the example queries of GraphiQL', () => {
  const schema = buildSchema(
    folder('schema')
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n'),
  );

  it('are valid', () => {
    expect(examples.length).toBeGreaterThan(15);
    for (const { path, text } of examples) expect([path, ...validate(schema, parse(text))]).toEqual([path]);
  });

  it('use every field of the main types', () => {
    const asked = new Set<string>();
    for (const { text } of examples) visit(parse(text), { Field: ({ name }) => void asked.add(name.value) });
    for (const type of ['Query', 'Mutation', 'Viewport', 'Subscription', 'Collection', 'Marker', 'Cell', 'Cluster']) {
      const fields = Object.keys((schema.getType(type) as unknown as { getFields(): object }).getFields());
      expect([type, ...fields.filter((field) => !asked.has(field))]).toEqual([type]);
    }
  });

  it('begin with a comment about what they do', () => {
    for (const { path, text } of examples) expect([path, text.startsWith('# ')]).toEqual([path, true]);
  });
});

/** Waits for the editor, which loads after tabs and button: clicks before that show the first example. */
const readFirstExample = (page: Page) =>
  page.locator('.graphiql-query-editor .view-lines', { hasText: 'pageInfo' }).waitFor({ timeout: 50_000 });

describe.skipIf(!hasChromium)('the GraphiQL page in a browser', async () => {
  const db = await testDatabase();
  let staticDir = '';
  let browser: Browser;
  /** One for all tests, so that the editor is compiled once. */
  let context: BrowserContext;
  let http: ReturnType<typeof buildHttp>;
  let url = '';
  const hub = createHub({ keys: db.keys, log: silentLog, now: () => Date.now() });

  beforeAll(async () => {
    staticDir = await mkdtemp(join(tmpdir(), 'cellport-graphiql-'));
    await build({ configFile: join(root, 'vite.config.ts'), build: { outDir: staticDir } });
    const services = createServices({ database: db }, { cacheBytes: 0, live: hub });
    ({ http } = await createHttpServer(services, { pages: { staticDir } }));
    url = await http.listen({ host: '127.0.0.1', port: 0 });
    const cities = await createCollection(db, { key: 'cities', name: 'Cities' }, new Date().toISOString(), newCall());
    const input = { key: '2643743', name: 'London', position: { lng: -0.12574, lat: 51.50853 } };
    await createMarker(db, cities, input, new Date().toISOString(), newCall());
    browser = await openBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5 });
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await http.close();
    await rm(staticDir, { recursive: true });
  });

  it('loads from this server only, without violating its policy, and runs the first example', async () => {
    const page = await context.newPage();
    const elsewhere: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`)) elsewhere.push(request.url());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    const response = await page.goto(`${url}/`);
    expect(page.url()).toBe(`${url}/graphiql/`);
    expect(await page.locator('#no-schema').isVisible()).toBe(false);
    expect(response?.headers()['content-security-policy']).toMatch(/script-src 'self'(;|$)/);
    const run = page.locator('.graphiql-execute-button');
    await run.waitFor({ timeout: 50_000 });
    expect(await page.locator('.graphiql-tab').count()).toBe(examples.length);
    expect(await page.locator('.graphiql-tab', { hasText: 'SensorsOnFloor' }).count()).toBe(1);
    await readFirstExample(page);
    await run.click();
    await page.locator('.result-window', { hasText: 'London' }).waitFor({ timeout: 50_000 });
    expect({ elsewhere, faults }).toEqual({ elsewhere: [], faults: [] });
    await page.close();
  }, 300_000);

  it('explains that introspection is disabled, and still runs its examples', async () => {
    const server = await startServer(db, { introspection: false, staticDir, status: () => undefined });
    const page = await context.newPage();
    await page.goto(`${server.url}/graphiql/`);
    await page.locator('#no-schema', { hasText: 'CELLPORT_INTROSPECTION' }).waitFor({ timeout: 50_000 });
    await readFirstExample(page);
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'London' }).waitFor({ timeout: 50_000 });
    expect(await page.locator('.result-window', { hasText: 'introspection' }).count()).toBe(0);
    await page.close();
    await server.close();
  }, 300_000);

  it('runs subscriptions, and shows their results', async () => {
    await createCollection(db, { key: 'parks', name: 'Parks' }, new Date().toISOString(), newCall());
    hub.connected();
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.goto(`${url}/graphiql/`);
    await readFirstExample(page);
    await page.locator('.graphiql-tab', { hasText: 'Live' }).click();
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'markerChanged' }).waitFor({ timeout: 50_000 });
    await page.locator('.graphiql-execute-button').click();
    let sequence = 0;
    const telling = setInterval(() => {
      sequence += 1;
      hub.take(markerRecord(db.keys, { sequence: String(sequence), key: `park${sequence}`, after: [16.9, 52.4] }));
    }, 200);
    await page.locator('.result-window', { hasText: 'CREATED' }).waitFor({ timeout: 50_000 });
    clearInterval(telling);
    expect(faults).toEqual([]);
    await page.close();
  }, 300_000);
});
