import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { hasMoreStructure } from '../../src/http/json-limit.js';
import { newDatabase } from '../support/test-database.js';
import { startServer, type LiveServer } from './live-server.js';

function structure(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, each) => sum + structure(each), 1 + names);
}

test('lists, objects and names are counted exactly, whatever strings and white space are among them', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\\"', '[{:', '":{', '\\\\'));
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof({ maxDepth: 4 }, text, fc.double(), fc.array(tie('json')), fc.dictionary(text, tie('json'))),
  }));
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const written = JSON.stringify(value, undefined, indent);
      const count = structure(JSON.parse(written));
      expect(hasMoreStructure(written, count)).toBe(false);
      if (count > 0) expect(hasMoreStructure(written, count - 1)).toBe(true);
    }),
  );
});

describe('of 40,000 bytes', () => {
  const ALLOWED = 2_000;
  let server: LiveServer;
  beforeAll(async () => {
    server = await startServer(newDatabase(), { limits: { maxBodyBytes: 40_000 } });
  });
  afterAll(() => server.close());

  /** A request with this number of lists, objects and names. */
  const request = (count: number) => `{"query":"{__typename}","variables":{"a":[${'[],'.repeat(count - 7)}[]]}}`;

  test.each(['/graphql', '/graphql/stream'])(
    'a body with more than 2,000 of them is LIMIT_EXCEEDED at %s',
    async (path) => {
      const post = (body: string) =>
        fetch(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect((await post(request(ALLOWED))).status).toBe(200);
      for (const body of [request(ALLOWED + 1), '['.repeat(40_000), `{"a":${'{"":'.repeat(9_000)}`]) {
        const response = await post(body);
        expect([response.status, await response.json()]).toEqual([
          400,
          {
            errors: [
              {
                message:
                  'number of lists, objects and names in the JSON is more than 2000, the limit is 2000: split it into several requests',
                extensions: {
                  code: 'LIMIT_EXCEEDED',
                  field: 'number of lists, objects and names in the JSON',
                  value: 'more than 2000',
                  limit: 2000,
                },
              },
            ],
          },
        ]);
      }
    },
  );

  test('a message with more closes a WebSocket', async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send('['.repeat(ALLOWED + 1));
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([
      4400,
      'number of lists, objects and names in the JSON is more than 2000, the limit is 2000: split it into several requests',
    ]);
  });
});
