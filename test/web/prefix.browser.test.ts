import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { inTurn } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { collectFaults, drawSlowly, expectSoon, hasChromium, openBrowser, SMALL } from './browser.js';
import { startMapServer, type MapServer } from './map-server.js';

const PREFIX = '/geo/places';

/** Starts a proxy that forwards what is below PREFIX to a server, as nginx does with `proxy_pass` to a URL with a path. */
async function startProxy(target: string) {
  const { hostname, port } = new URL(target);
  const onward = ({ method, headers, url = '' }: IncomingMessage) =>
    request({ hostname, port, method, headers, path: url.slice(PREFIX.length), agent: false });
  const elsewhere: string[] = [];
  const proxy = createServer((asked, answer) => {
    if (!asked.url?.startsWith(`${PREFIX}/`)) {
      elsewhere.push(asked.url ?? '');
      answer.writeHead(404).end();
      return;
    }
    const sent = onward(asked).on('response', (got) => got.pipe(answer.writeHead(got.statusCode ?? 500, got.headers)));
    asked.pipe(sent.on('error', () => answer.destroy()));
  });
  proxy.on('upgrade', (asked, socket) => {
    const sent = onward(asked).on('upgrade', (got, server) => {
      const lines = got.rawHeaders.flatMap((text, index) =>
        index % 2 === 0 ? [`${text}: ${got.rawHeaders[index + 1]}`] : [],
      );
      socket.write(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'));
      server
        .on('error', () => socket.destroy())
        .pipe(socket.on('error', () => server.destroy()))
        .pipe(server);
    });
    sent.on('error', () => socket.destroy()).end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`, elsewhere, close };
}

describe.skipIf(!hasChromium)('behind a proxy that takes a prefix off paths', async () => {
  const turn = inTurn(2);
  const db = await testDatabase('readable', { stream: true });
  let browser: Browser;
  let server: MapServer;
  let proxy: Awaited<ReturnType<typeof startProxy>>;

  beforeAll(async () => {
    server = await startMapServer(db);
    const marker = 'collection: "parks", key: "a", name: "Park A", position: { lng: 1, lat: 2 }';
    await server.ask(
      `mutation { createCollection(input: { key: "parks", name: "Parks" }) { id } createMarker(input: { ${marker} }) { id } }`,
    );
    browser = await openBrowser();
    proxy = await startProxy(server.url);
  });
  afterAll(async () => {
    await browser.close();
    proxy.close();
    await server.close();
  });

  it('the map loads, follows changes and leads to GraphiQL, which runs a query', async ({ skip, task }) => {
    skip(!turn(task));
    const context = await browser.newContext({ ...SMALL, reducedMotion: 'reduce' });
    await drawSlowly(context);
    const page = await context.newPage();
    page.setDefaultTimeout(50_000);
    const faults: string[] = [];
    collectFaults(page, faults);
    page.on('response', (answer) => answer.status() >= 400 && faults.push(`${answer.status()} for ${answer.url()}`));
    const tiles = page.waitForResponse((answer) => answer.url().endsWith('.pbf'));
    await page.goto(`${proxy.url}/`);
    expect((await tiles).url()).toMatch(new RegExp(`^${proxy.url}/map/tiles/`));
    await page.locator('#layers').getByText('Parks').waitFor();
    for (const name of ['Park B', 'Park C']) {
      await server.ask(`mutation { updateMarker(input: { id: "marker::parks::a", name: "${name}" }) { id } }`);
      await expectSoon(page, `cellport.layers[0]?.content.markers.some(({ name }) => name === '${name}')`);
    }
    await page.goto(`${proxy.url}/map/`);
    expect(page.url()).toBe(`${proxy.url}/`);
    await page.goto(`${proxy.url}/graphiql`);
    expect(page.url()).toBe(`${proxy.url}/graphiql/`);
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'query' }).waitFor();
    const answered = page.waitForResponse(`${proxy.url}/graphql`);
    await page.locator('.graphiql-execute-button').click();
    expect(await (await answered).json()).toHaveProperty('data');
    expect({ faults, elsewhere: proxy.elsewhere }).toEqual({ faults: [], elsewhere: [] });
    await context.close();
  });
});
