import { expect, test } from 'vitest';

import { IN_PROCESS, readAddresses } from '../../src/http/addresses.js';
import { requestOf, resultOf } from '../../src/lambda/http-handler.js';
import { eventOf, type Sent } from './http-events.js';

test('paths arrive as they were sent, although an HTTP API decodes them and names its stage', () => {
  const paths = [
    '/',
    '/tiles/a/1/2/3.mvt',
    '/ogc/collections/b%20c/items/%C3%BC%25%3F%23%F0%9D%84%9E',
    "/it's/(a)*~:@!$&,;=+",
  ];
  for (const front of ['url', 'api', 'stage'] as const) {
    for (const path of paths) {
      expect(requestOf(eventOf(front, { path })).url).toBe(path);
      const query = '?a=1&a=2&b=%2B+%26&c';
      expect(requestOf(eventOf(front, { path: path + query })).url).toBe(path + query);
    }
  }
  const odd = { ...eventOf('api', { path: '/' }), rawPath: '/100%/\ud800 x%4' };
  expect(requestOf(odd).url).toBe('/100%25/%EF%BF%BD%20x%254');
});

test('cookies and bodies arrive as they were sent', () => {
  const { headers, body } = requestOf(eventOf('url', { path: '/', cookies: ['a=1', 'b=2'], body: 'ü' }));
  expect([headers['cookie'], body?.toString()]).toEqual(['a=1; b=2', 'ü']);
  const bytes = Buffer.from([0, 255, 254]);
  expect(requestOf(eventOf('url', { path: '/', body: bytes })).body).toEqual(bytes);
  expect(requestOf(eventOf('url', { path: '/' })).body).toBeUndefined();
});

test('the address is the one that AWS saw: what a client says counts only if a proxy in front of AWS is trusted', () => {
  const addressOf = (trusted: number | readonly string[], sent: Partial<Sent> = {}) => {
    const { address, headers } = requestOf(eventOf('api', { path: '/', ...sent }));
    const socket = { remoteAddress: `${IN_PROCESS} ${address}` } as never;
    return readAddresses(trusted).of({ socket, headers });
  };
  const claims = { headers: { 'x-forwarded-for': '192.0.2.1, 198.51.100.2' }, from: '203.0.113.9' };
  expect(addressOf(0)).toBe('203.0.113.7');
  expect(addressOf(0, { from: '2001:db8::17' })).toBe('2001:db8::17');
  expect(addressOf(1)).toBe('203.0.113.7');
  expect(addressOf(0, claims)).toBe('203.0.113.9');
  expect(addressOf(1, claims)).toBe('198.51.100.2');
  expect(addressOf(2, claims)).toBe('192.0.2.1');
  expect(addressOf(['203.0.113.0/24'], claims)).toBe('198.51.100.2');
  expect(addressOf(['10.0.0.0/8'], claims)).toBe('203.0.113.9');
});

test('headers with several values are one, cookies are apart, and those of a connection are left out', () => {
  const headers = {
    'set-cookie': ['a=1, 2', 'b=3'],
    vary: ['accept', 'origin'],
    'content-length': 3,
    connection: 'close',
    etag: undefined,
  };
  expect(resultOf(200, headers, Buffer.from([255]))).toEqual({
    statusCode: 200,
    headers: { vary: 'accept, origin' },
    cookies: ['a=1, 2', 'b=3'],
    body: '/w==',
    isBase64Encoded: true,
  });
});
