import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';

import { collect, until, websocketClient, type Collected } from '../live/support.js';
import { postQuery } from '../support/post-query.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { startServer, testServer, type Answered } from './live-server.js';

const db = await testDatabase();
const server = await testServer(db);

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' });
});

const QUERY = '{ collection(key: "parks") { name } }';
const PARKS = { collection: { name: 'Parks' } };
const create = (key: string) =>
  `mutation { createMarker(input: { collection: "parks", key: "${key}", position: { lng: 1, lat: 2 } }) { key } }`;
const exists = async (key: string) => (await server.ask(`{ marker(id: "marker::parks::${key}") { key } }`)).data.marker !== null; // prettier-ignore

/** Sends a GET with headers that fetch may not set. */
function get(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

describe('a GET without a header that only scripts of allowed pages can send', () => {
  const path = `/graphql?query=${encodeURIComponent(QUERY)}`;

  test('is answered for a page of this server, as clients send it by default', async () => {
    const { status, text } = await get(path, { 'sec-fetch-site': 'same-origin' });
    expect([status, JSON.parse(text)]).toEqual([200, { data: PARKS }]);
    const mutation = await get(`/graphql?query=${encodeURIComponent(create('got'))}`, { 'sec-fetch-site': 'same-origin' }); // prettier-ignore
    expect([mutation.status, await exists('got')]).toEqual([405, false]);
  });

  test.each([{}, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'none' }])(
    'is refused with %j',
    async (headers) => {
      expect((await get(path, headers)).status).toBe(400);
    },
  );

  test('is refused by /graphql/stream if another site sends it without its origin, as an image', async () => {
    const { status, text } = await get(path.replace('graphql', 'graphql/stream'), { 'sec-fetch-site': 'cross-site' });
    expect([status, text]).toEqual([403, expect.stringContaining('"FORBIDDEN"')]);
  });
});

describe('a query or a mutation over a WebSocket', () => {
  test('is answered like a request, with the errors of its fields beside its data', async () => {
    const client = websocketClient(server.url);
    const asked = [QUERY, create('ws'), '{ collection(key: "parks") { name nearest(center: { lng: 1, lat: 91 }) { distance } } }', '{ what }']; // prettier-ignore
    const [query, mutation, failing, invalid] = asked.map((each) => collect(client, each));
    await until(() => [query, mutation, failing, invalid].every((each) => each?.ended !== undefined));
    expect(query).toMatchObject({ data: [PARKS], errors: [], ended: 'complete' });
    expect(mutation).toMatchObject({ data: [{ createMarker: { key: 'ws' } }], errors: [], ended: 'complete' });
    expect(failing).toMatchObject({
      data: [{ collection: null }],
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
      ended: 'complete',
    });
    expect(invalid).toMatchObject({ errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }], ended: 'error' });
    expect(await exists('ws')).toBe(true);
    await client.dispose();
  });

  test('is refused beyond the limits of the connection and of requests', async () => {
    const small = await startServer(db, { limits: { subscriptionsPerConnection: 1, maxAliases: 2 }, readOnly: true });
    const client = websocketClient(small.url);
    const refused = [create('refused'), '{ a: __typename b: __typename c: __typename }'];
    for (const [index, code] of ['FORBIDDEN', 'LIMIT_EXCEEDED'].entries()) {
      const one = collect(client, refused[index] ?? '');
      await until(() => one.ended !== undefined);
      expect(one.errors).toMatchObject([{ extensions: { code } }]);
    }
    const two = [QUERY, QUERY].map((each) => collect(client, each));
    await until(() => two.every(({ ended }) => ended !== undefined));
    expect(two.flatMap(({ errors }) => errors)).toMatchObject([
      { message: expect.stringContaining('number of operations on this connection is 2, the limit is 1') },
    ]);
    await client.dispose();
    await small.close();
  });

  test('is refused while large ones of all connections fill the memory for them', async () => {
    // Long enough for all of them to arrive on a busy machine.
    const limits = { maxBodyBytes: 20_000, deadlineMs: 2_000 };
    const slow = await startServer(db, { limits, executor: () => () => new Promise(() => undefined) });
    const clients = [websocketClient(slow.url), websocketClient(slow.url)] as const;
    const large = (client: (typeof clients)[number]) => collect(client, QUERY, { unused: 'x'.repeat(18_000) });
    const isOverloaded = ({ errors }: Collected) => errors.some(({ message }) => message.includes('overloaded'));
    const all = [...clients, ...clients].flatMap((client) => Array.from({ length: 5 }, () => large(client)));
    await until(() => all.every(({ ended }) => ended !== undefined));
    // 16 times 20,000 bytes hold 17.
    expect(all.filter(isOverloaded)).toHaveLength(3);
    const next = large(clients[0]);
    await until(() => next.ended !== undefined);
    expect(isOverloaded(next)).toBe(false);
    for (const client of clients) await client.dispose();
    await slow.close();
  });

  test('ends with UNAVAILABLE at the deadline', async () => {
    const slow = await startServer(db, { limits: { deadlineMs: 50 }, executor: () => () => new Promise(() => undefined) }); // prettier-ignore
    const client = websocketClient(slow.url);
    const late = collect(client, QUERY);
    await until(() => late.ended !== undefined);
    expect(late.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    await client.dispose();
    await slow.close();
  });
});

describe('a query or a mutation over an event stream', () => {
  const stream = (query: string) => postQuery(server.url, query, { path: '/graphql/stream' });

  test('is answered by one event and the end', async () => {
    for (const [query, data] of [
      [QUERY, PARKS],
      [create('sse'), { createMarker: { key: 'sse' } }],
    ] as const) {
      // prettier-ignore
      const response = await stream(query);
      expect(response.headers.get('content-type')).toMatch('text/event-stream');
      const events = `event: next\ndata: ${JSON.stringify({ data })}\n\nevent: complete\ndata: \n\n`;
      expect(await response.text()).toBe(`:\n\n${events}`);
    }
    expect(await exists('sse')).toBe(true);
  });

  test('is answered by GET if it writes nothing', async () => {
    const ask = async (query: string) => (await get(`/graphql/stream?query=${encodeURIComponent(query)}`, {})).text;
    expect(await ask(QUERY)).toContain(JSON.stringify({ data: PARKS }));
    expect(await ask(create('sse-get'))).toContain('mutations need POST; got GET');
    expect(await exists('sse-get')).toBe(false);
  });
});

describe('a batch', () => {
  const batch = async (operations: readonly unknown[], headers = {}) => {
    const response = await server.post(JSON.stringify(operations), headers);
    return { status: response.status, answers: (await response.json()) as readonly Partial<Answered>[] & Answered };
  };

  test('of at most 10 operations is answered in its order, each with its own errors, limits and cost', async () => {
    const operations = [
      { query: QUERY },
      { query: create('batch') },
      { query: '{ what }' },
      { query: 'query ($k: String!) { collection(key: $k) { name } }', variables: { k: 'none' } },
      {},
      null,
      [{ query: QUERY }],
      ...Array.from({ length: 3 }, () => ({ query: '{ __typename }' })),
    ];
    const { status, answers } = await batch(operations, { 'x-cellport-cost': '1' });
    expect(status).toBe(200);
    expect(answers).toMatchObject([
      { data: PARKS, extensions: { cost: { writes: 0 } } },
      { data: { createMarker: { key: 'batch' } }, extensions: { cost: { writes: 1 } } },
      { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
      { data: { collection: null } },
      ...[4, 5, 6].map(() => ({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] })),
      ...[7, 8, 9].map(() => ({ data: { __typename: 'Query' } })),
    ]);
    expect(await exists('batch')).toBe(true);
  });

  test('of more is refused, naming the limit', async () => {
    const { status, answers } = await batch(Array.from({ length: 11 }, () => ({ query: QUERY })));
    expect([status, answers.errors]).toMatchObject([
      400,
      [{ message: expect.stringMatching('is 11, the limit is 10'), extensions: { code: 'LIMIT_EXCEEDED', limit: 10 } }],
    ]);
  });

  test('of pages of other sites writes nothing', async () => {
    const { answers } = await batch([{ query: QUERY }, { query: create('foreign') }], {
      origin: 'https://evil.example',
    });
    expect(answers).toMatchObject([{ data: PARKS }, { errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
    expect(await exists('foreign')).toBe(false);
  });

  test('holds no place while its operations wait for theirs', async () => {
    // More batches than there are places, each of which would wait for those of others; none is refused with 60 operations.
    const all = await Promise.all(
      Array.from({ length: 20 }, () => batch(Array.from({ length: 3 }, () => ({ query: '{ __typename }' })))),
    );
    expect(all.flatMap(({ answers }) => answers.filter(({ data }) => data?.__typename === 'Query'))).toHaveLength(60);
  });
});
