import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

import { newDatabase } from '../support/test-database.js';
import { testServer } from './live-server.js';

const LONG = '{ __schema { types { name description fields { name description } } } }';
const SHORT = '{ __typename }';
/** Answered with one error per field. */
const FAULTY = `{ ${'x '.repeat(20)} }`;
const DECODE: Readonly<Record<string, (body: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

const server = await testServer(newDatabase(), { allowedOrigins: ['https://maps.example.org'] });
let plain = '';

/** Posts a query without the changes that `fetch` makes: it accepts encodings, and decodes them. */
async function post(query: string, headers: OutgoingHttpHeaders) {
  const sending = request(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  sending.end(JSON.stringify({ query }));
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  const { 'content-encoding': encoding, ...others } = response.headers;
  return { status: response.statusCode, encoding, headers: others, body: await buffer(response) };
}

beforeAll(async () => {
  plain = (await post(LONG, {})).body.toString();
});

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;Q=1', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br; q=0.8 , gzip; q=0.5', 'br'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['deflate, zstd', undefined],
  ['', undefined],
  [undefined, undefined],
  ['br;q=often', undefined],
])('an answer to a client that accepts %o is sent as %s', async (accepted, encoding) => {
  const answer = await post(LONG, accepted === undefined ? {} : { 'accept-encoding': accepted });
  expect([answer.status, answer.encoding]).toEqual([200, encoding]);
  const decode = DECODE[encoding ?? ''] ?? ((body) => body);
  expect(decode(answer.body).toString()).toBe(plain);
  expect(answer.headers['content-length']).toBe(String(answer.body.length));
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.headers['vary']).toBe('Origin, Accept-Encoding');
  if (encoding !== undefined) expect(answer.body.length).toBeLessThan(plain.length / 3);
});

test('short answers are not compressed', async () => {
  const { encoding, headers, body } = await post(SHORT, { 'accept-encoding': 'br, gzip' });
  expect([encoding, headers['vary'], body.toString()]).toEqual([undefined, 'Origin', '{"data":{"__typename":"Query"}}\n']); // prettier-ignore
});

test('a body with an encoding is refused by the name of its header', async () => {
  for (const path of ['/graphql', '/graphql/stream']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const body = gzipSync(JSON.stringify({ query: SHORT }));
    const answer = await fetch(server.url + path, { method: 'POST', headers, body });
    const wanted = {
      message: 'content-encoding must be identity, or none; got "gzip"',
      extensions: { code: 'BAD_USER_INPUT', field: 'content-encoding' },
    };
    expect([answer.status, await answer.json()]).toMatchObject([400, { errors: [wanted] }]);
  }
  const { status } = await post(SHORT, { 'content-encoding': 'identity' });
  expect(status).toBe(200);
});

test('errors are compressed, too', async () => {
  const { status, encoding, body } = await post(FAULTY, { 'accept-encoding': 'br' });
  expect([status, encoding]).toEqual([400, 'br']);
  expect(brotliDecompressSync(body).toString()).toMatch(/^\{"errors":/);
});

test('event streams are not compressed', async () => {
  const response = await fetch(`${server.url}/graphql/stream?query=${encodeURIComponent(FAULTY)}`);
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null]);
  expect((await response.text()).length).toBeGreaterThan(1_024);
});
