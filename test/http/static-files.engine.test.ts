import { once } from 'node:events';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { temporaryFolder } from '../support/temporary-folder.js';
import { newDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

const FOREVER = 'public, max-age=31536000, immutable';

const folder = temporaryFolder();
let server: LiveServer;

beforeAll(async () => {
  for (const name of ['assets', 'tiles/0a1b2c3d/0/0']) await mkdir(join(folder, name), { recursive: true });
  for (const name of ['index.html', 'assets/main-0a1b.js', 'tiles/0a1b2c3d/0/0/0.pbf']) {
    for (const extension of ['', '.br', '.gz']) await writeFile(join(folder, name + extension), name + extension);
  }
  await writeFile(join(folder, 'assets/small-0a1b.js'), 'assets/small-0a1b.js');
  const allowedOrigins = ['https://maps.example.org'];
  server = await startServer(newDatabase(), { staticDir: folder, mapDir: folder, allowedOrigins });
});
afterAll(async () => {
  await server.close();
});

/** Gets a file without the changes that `fetch` makes. */
async function get(path: string, accepted: string, { url } = server, known?: string) {
  const headers = { 'accept-encoding': accepted, ...(known !== undefined && { 'if-none-match': known }) };
  const sending = request(`${url}${path}`, { headers }).end();
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test.each([
  ['/graphiql/', 'index.html', 'text/html; charset=utf-8', 'no-cache'],
  ['/map/assets/main-0a1b.js', 'assets/main-0a1b.js', 'application/javascript; charset=utf-8', FOREVER],
  ['/graphiql/assets/main-0a1b.js', 'assets/main-0a1b.js', 'application/javascript; charset=utf-8', FOREVER],
  ['/map/tiles/0a1b2c3d/0/0/0.pbf', 'tiles/0a1b2c3d/0/0/0.pbf', 'application/octet-stream', FOREVER],
])('%s is sent in the encoding that is accepted, with its own type', async (path, file, type, cached) => {
  for (const [accepted, extension, encoding] of [
    ['gzip, deflate, br', '.br', 'br'],
    ['gzip, deflate', '.gz', 'gzip'],
    ['br;q=0, gzip', '.gz', 'gzip'],
    ['deflate', '', undefined],
    ['', '', undefined],
  ] as const) {
    const { status, headers, body } = await get(path, accepted);
    expect([status, accepted, body]).toEqual([200, accepted, file + extension]);
    expect(headers).toMatchObject({ 'content-type': type, 'cache-control': cached, vary: 'Origin, Accept-Encoding' });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
  }
});

test.each([
  ['that ends in a slash, as that of the built pages', (root: string) => `${root}/`],
  ['that does not', (root: string) => root],
  ['that is not in its shortest form', (root: string) => join(root, 'assets') + '/../'],
  ['that is a link in a folder named assets', (root: string) => join(root, 'linked/assets/page')],
])('files whose URL changes with their content are kept, all others revalidated, of a root %s', async (_, rootOf) => {
  const linked = join(folder, 'linked/assets');
  await mkdir(linked, { recursive: true });
  await symlink(folder, join(linked, 'page'));
  await mkdir(join(folder, 'tiles/0/0'), { recursive: true });
  for (const name of ['tiles/0/0/0.pbf', 'preview.jpg']) await writeFile(join(folder, name), name);
  const root = rootOf(folder);
  const other = await startServer(newDatabase(), { staticDir: root, mapDir: root });
  for (const [path, cached] of [
    ['/', 'no-cache'],
    ['/graphiql/', 'no-cache'],
    ['/graphiql/assets/main-0a1b.js', FOREVER],
    ['/map/index.html', 'no-cache'],
    ['/map/preview.jpg', 'no-cache'],
    ['/map/assets/main-0a1b.js', FOREVER],
    ['/map/%61ssets/main-0a1b.js', FOREVER],
    ['/map/tiles/0a1b2c3d/0/0/0.pbf', FOREVER],
    ['/map/tiles/0/0/0.pbf', 'no-cache'],
  ] as const) {
    const first = await get(path, 'br', other);
    const again = await get(path, 'br', other, String(first.headers['etag']));
    expect([path, first.status, again.status, again.body]).toEqual([path, 200, 304, '']);
    for (const { headers } of [first, again])
      expect([path, headers['cache-control'], headers['vary']]).toEqual([path, cached, 'Accept-Encoding']);
  }
  // Another server may have it, while all are updated.
  for (const path of ['/map/assets/gone-0a1b.js', '/map/tiles/0a1b2c3d/9/9/9.pbf', '/graphiql/assets', '/nowhere']) {
    const { status, headers } = await get(path, '', other);
    expect([path, status, headers['cache-control']]).toEqual([path, 404, 'no-store']);
  }
  await other.close();
  await rm(join(folder, 'linked'), { recursive: true });
});

test('a file that is not compressed is sent unchanged', async () => {
  const { headers, body } = await get('/map/assets/small-0a1b.js', 'gzip, deflate, br');
  expect([headers['content-encoding'], body]).toEqual([undefined, 'assets/small-0a1b.js']);
});

test('the page is compressed, and gives link previews the absolute URL of their picture', async () => {
  const meta = (url: string) => `<head><meta property="og:image" content="${url}map/preview.jpg" /></head>`;
  await writeFile(join(folder, 'index.html'), meta('') + ' '.repeat(5_000));
  // Only the client's own `Host` header is trusted.
  const headers = { 'x-forwarded-host': 'evil.example.org', 'x-forwarded-proto': 'https' };
  const response = await fetch(`${server.url}/`, { headers: { ...headers, 'accept-encoding': 'gzip' } });
  expect((await response.text()).trim()).toBe(meta(`${server.url}/`));
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-encoding': 'gzip',
    'cache-control': 'no-cache',
    vary: 'Origin, Accept-Encoding',
  });
});

test('the page is not sent again until it has changed', async () => {
  const index = join(folder, 'index.html');
  await writeFile(index, '<head></head>');
  const ask = (tag = '') => fetch(`${server.url}/`, { headers: { 'if-none-match': `"other", ${tag}` } });
  const first = await ask();
  const tag = first.headers.get('etag') ?? '';
  const again = await ask(tag);
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
  expect(again.headers.get('cache-control')).toBe('no-cache');
  await writeFile(index, '<head>rebuilt</head>');
  const other = await ask(tag);
  expect([other.status, await other.text()]).toEqual([200, '<head>rebuilt</head>']);
});

test('a custom style is named in the page, and its hosts in the policy', async () => {
  await writeFile(join(folder, 'index.html'), '<head></head>');
  const styleUrl = 'https://maps.example.org/style.json?a=1&b="2"';
  const styleOrigins = ['https://tiles.example.org'];
  const styled = await startServer(newDatabase(), { staticDir: folder, mapDir: folder, styleUrl, styleOrigins });
  const response = await fetch(`${styled.url}/`);
  await styled.close();
  expect(await response.text()).toBe(
    '<head><meta name="cellport-style" content="https://maps.example.org/style.json?a=1&amp;b=&quot;2&quot;" /></head>',
  );
  const allowed = 'https://maps.example.org https://tiles.example.org';
  const policy = response.headers.get('content-security-policy')?.split('; ');
  expect(policy).toContain(`connect-src 'self' ${allowed}`);
  expect(policy).toContain(`img-src 'self' data: ${allowed}`);
  expect(policy).toContain("script-src 'self'");
});

test('/map/ is the page at /', async () => {
  expect((await get('/map/', '')).headers['location']).toBe('../');
});

test('what a client asks of a file in vain is refused as its own mistake, not as a failure of the server', async () => {
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const sending = request(`${server.url}${path}`, { headers }).end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    return [response.statusCode, await text(response)] as const;
  };
  const beyond = await ask('/graphiql/', { range: 'bytes=1000000-' });
  expect(beyond).toEqual([416, expect.stringMatching(/range must be a part of the file; got \\"bytes=1000000-\\"/)]);
  const [status, body] = await ask('/graphiql/', { 'if-match': '"other"' });
  expect([status, body]).toEqual([412, expect.stringMatching(/if-match or if-unmodified-since must be .*other/)]);
  const paths = [
    '/graphiql/%00',
    '/graphiql/%',
    '/graphiql/%ff',
    '/map/..%2f..%2fpackage.json',
    '/map/%2e%2e/x',
    '/map/.env',
  ];
  for (const path of paths)
    expect([path, (await ask(path))[0]]).toEqual([path, expect.toSatisfy((is: number) => is >= 400 && is < 500)]);
});
