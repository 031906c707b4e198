import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { processMetrics } from '../../src/http/process-metrics.js';
import { silentLog, type LogFields } from '../../src/log.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createHttpServer, createServices, type HttpServer } from '../../src/server/services.js';
import { ConsumptionSampler } from '../../src/store/consumption/sampler.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable');
const lines: LogFields[] = [];
let server: HttpServer;
let url = '';

beforeAll(async () => {
  await testCollection(db, { key: 'parks', name: 'Parks' }, '2026-11-29T00:00:00.000Z');
  const status = () => ({ owner: true, behindMs: 1_500, countsExact: false, deadLetters: 3 });
  const services = createServices(db, { consumerStatus: status, limits: DEFAULT_LIMITS });
  const log = { ...silentLog, info: (fields: LogFields) => void lines.push(fields) };
  const registry = processMetrics(new ConsumptionSampler(() => 0));
  const metrics = {
    registry: () => registry,
    hotKeys: () => ({ readUnits: 0, writeUnits: 0, seconds: 1, missedAtMost: 0, keys: [] }),
  };
  server = await createHttpServer(services, { log, metrics, registry });
  url = await server.http.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

async function ask(body: object | readonly object[], headers: Readonly<Record<string, string>> = {}) {
  lines.length = 0;
  const json = { 'content-type': 'application/json', ...headers };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  await response.text();
  // It is written once the answer has been sent.
  await expect.poll(() => lines.length, { interval: 5 }).toBe(1);
  return { response, line: lines[0] ?? {} };
}

const COUNT = 'query CountParks($key: String!) { collection(key: $key) { name count } }';

test('each request has a line with what it took, and no values', async () => {
  const { response, line } = await ask({ query: COUNT, variables: { key: 'parks' } }, { 'x-cellport-cost': '1' });
  expect(line).toEqual({
    request: response.headers.get('x-request-id'),
    method: 'POST',
    route: '/graphql',
    status: 200,
    ms: expect.any(Number) as unknown,
    bytes: expect.any(Number) as unknown,
    operation: 'CountParks',
    code: undefined,
    readUnits: expect.any(Number) as unknown,
    writeUnits: 0,
  });
  expect(line['readUnits']).toBeGreaterThan(0);
  expect(line['bytes']).toBeGreaterThan(0);
  expect(JSON.stringify(line)).not.toContain('parks');
  const secret = await fetch(`${url}/nowhere?key=secret`);
  expect(secret.status).toBe(404);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toMatchObject({ route: null, status: 404 });
});

test('a client names its request; what is no name is replaced', async () => {
  const named = await ask({ query: '{ __typename }' }, { 'x-request-id': 'view-17:a.b_c' });
  expect([named.response.headers.get('x-request-id'), named.line['request']]).toEqual([
    'view-17:a.b_c',
    'view-17:a.b_c',
  ]);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const traced = await ask({ query: '{ __typename }' }, { traceparent });
  expect(traced.line['request']).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(traced.response.headers.get('traceparent')).toBe(traceparent);
  const { line } = await ask({ query: '{ __typename }' }, { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` });
  expect(line['request']).toMatch(/^[\da-f-]{36}$/);
  for (const wrong of ['', 'a b', 'é', 'x'.repeat(129), '"}{']) {
    const headers = { 'x-request-id': encodeURI(wrong) === wrong ? wrong : 'a b' };
    const { line } = await ask({ query: '{ __typename }' }, headers);
    expect(line['request']).toMatch(/^[\da-f-]{36}$/);
  }
});

test('where capacity is sampled, each line has the units', async () => {
  const sampled = { ...db, consumption: new ConsumptionSampler(() => 0) };
  const asked: LogFields[] = [];
  const log = { ...silentLog, info: (fields: LogFields) => void asked.push(fields) };
  const other = await createHttpServer(createServices(sampled, { limits: DEFAULT_LIMITS }), { log });
  onTestFinished(() => other.close());
  const payload = { query: COUNT, variables: { key: 'parks' } };
  await other.http.inject({ method: 'POST', url: '/graphql', payload });
  // An answer without a socket has one line, too.
  await expect.poll(() => asked).toMatchObject([{ operation: 'CountParks', writeUnits: 0 }]);
  expect(asked[0]?.['readUnits']).toBeGreaterThan(0);
});

test('failures have the code of their first error', async () => {
  const codeOf = async (body: object) => (await ask(body)).line['code'];
  expect(await codeOf({ query: '{ collections(first: -1) { nodes { key } } }' })).toBe('BAD_USER_INPUT');
  expect(await codeOf({ query: 'mutation Drop { deleteCollection(key: "none") { key } }' })).toBe('NOT_FOUND');
  expect(await codeOf({ query: '{ nothing }' })).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await codeOf({ query: '{' })).toBe('GRAPHQL_PARSE_FAILED');
  expect((await ask([{ query: '{ __typename }' }, { query: '{ __typename }' }])).line).toMatchObject({
    operation: 'batch',
  });
});

test('tiles and other answers by URL are named by their route', async () => {
  for (const [path, told] of [
    ['/tiles/parks/0/0/0?limit=7', { operation: '/tiles/:collection/:z/:x/:y', status: 204 }],
    ['/tiles/parks/0/0/1', { operation: '/tiles/:collection/:z/:x/:y', status: 400, code: 'BAD_USER_INPUT' }],
    ['/ogc/collections/none/items', { operation: '/ogc/collections/:key/items', status: 404, code: 'NOT_FOUND' }],
  ] as const) {
    lines.length = 0;
    await (await fetch(url + path)).text();
    await expect.poll(() => lines.length, { interval: 5 }).toBe(1);
    expect(lines[0]).toMatchObject(told);
  }
});

test('a client that leaves costs no error with a stack, and its request has a line and is counted, too', async () => {
  lines.length = 0;
  const leaving = new AbortController();
  const answering = new Promise<AbortSignal>((resolve) => {
    vi.spyOn(server.graphql, 'answer').mockImplementationOnce(async (_request, gone) => {
      resolve(gone);
      await once(gone, 'abort');
      return { status: 200, headers: [], body: '{}' };
    });
  });
  const body = JSON.stringify({ query: COUNT });
  const headers = { 'content-type': 'application/json' };
  const left = fetch(`${url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal }).catch(() => 'left');
  const gone = await answering;
  leaving.abort();
  expect(await left).toBe('left');
  await expect.poll(() => gone.aborted).toBe(true);
  expect(gone.reason).toBe('the client has disconnected');
  await expect.poll(() => lines.length).toBe(1);
  const abandoned = { route: '/graphql', status: 499, operation: '/graphql', code: 'ABANDONED' };
  expect(lines).toMatchObject([abandoned]);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('cellport_requests_total{operation="/graphql",code="ABANDONED"} 1');
  // One that leaves in the middle of its answer has had its status.
  const streaming = new AbortController();
  lines.length = 0;
  const query = 'subscription { markerChanged(collection: "parks") { kind } }';
  await fetch(`${url}/graphql/stream`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
    signal: streaming.signal,
  });
  streaming.abort();
  await expect.poll(() => lines.length).toBe(1);
  expect(lines).toMatchObject([{ route: '/graphql/stream', status: 200 }]);
});

test('/metrics counts operations by name and code, few names apart, with their times and the state of the stream', async () => {
  const value = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const [, number] =
      text
        .split('\n')
        .map((line) => line.split(/ (?=\S+$)/))
        .find(([label]) => label === name) ?? [];
    return number === undefined ? 0 : Number(number);
  };
  const counted = 'cellport_requests_total{operation="CountParks",code=""}';
  const timed = 'cellport_request_duration_seconds_count{operation="CountParks"}';
  const before = [await value(counted), await value(timed)];
  for (let n = 0; n < 3; n += 1) await ask({ query: COUNT, variables: { key: 'parks' } });
  expect([await value(counted), await value(timed)]).toEqual(before.map((count) => count + 3));
  const drop = 'cellport_requests_total{operation="Drop",code="NOT_FOUND"}';
  const dropped = await value(drop);
  await ask({ query: 'mutation Drop { deleteCollection(key: "none") { key } }' });
  expect(await value(drop)).toBe(dropped + 1);
  expect(await value('cellport_stream_behind_seconds')).toBe(1.5);
  expect(await value('cellport_counts_exact')).toBe(0);
  expect(await value('cellport_dead_letters')).toBe(3);
  expect(await value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  for (let n = 0; n < 210; n += 1) await ask({ query: `query Q${n} { __typename }` });
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text.match(/^cellport_requests_total\{/gm)?.length).toBeLessThan(215);
  expect(await value('cellport_requests_total{operation="other",code=""}')).toBeGreaterThan(5);
});
