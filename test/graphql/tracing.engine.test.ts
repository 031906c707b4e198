import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test, vi } from 'vitest';

import { postQuery } from '../support/post-query.js';
import { runCli } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number;
}

const CREATE = `mutation ($markers: [MarkerInput!]!) {
  createCollection(input: { key: "parks", name: "Parks" }) { id }
  upsertMarkers(collection: "parks", markers: $markers) { created }
}`;
const BOUNDS = '(bounds: { west: 0, south: 0, east: 3, north: 3 }, zoom: 9)';
const PLAN = `query Planned { viewport${BOUNDS} { plan(collection: "parks") { source } } }`;
const VIEW = `query Shown { viewport${BOUNDS} { markers(collection: "parks") { nodes { name } } } }`;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

test('with an SDK, a request is a span in its client’s trace, with its plan, calls and decoding, and without values', async () => {
  const database = await testDatabase('readable', { stream: true });
  const folder = temporaryFolder();
  const file = join(folder, 'spans.json');
  const server = runCli(['serve'], {
    ...engineSettings(),
    CELLPORT_TABLE: database.tables.entities,
    CELLPORT_DATA_DIR: folder,
    NODE_OPTIONS: `--import ${join(inject('compiled'), 'test/graphql/tracing-sdk.js')}`,
    TEST_SPANS: file,
    // Otherwise, pages may have been decoded before.
    CELLPORT_CACHE_MB: '0',
    PORT: '0',
  });
  const url = await server.serving();
  const ask = async (query: string, variables = {}, headers = {}) => {
    const answer = await postQuery(url, query, { variables, headers });
    return (await answer.json()) as { data: { viewport: { plan: { source: string } } } };
  };
  const markers = [1, 2].map((n) => ({ key: `secret${n}`, name: 'Hidden', position: { lng: n, lat: 1.2345 } }));
  await ask(CREATE, { markers });
  const planned = async () => expect((await ask(PLAN)).data.viewport.plan.source).toBe('PAGES');
  await vi.waitFor(planned, { timeout: 30_000, interval: 200 });
  const shown = await ask(VIEW, {}, { traceparent: `00-${TRACE}-${PARENT}-01` });
  expect(JSON.stringify(shown)).toContain('Hidden');
  await ask('query Wrong { collections(first: -1) { nodes { key } } }');
  await (await fetch(`${url}/tiles/parks/0/0/0`)).arrayBuffer();
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);

  const spans = JSON.parse(readFileSync(file, 'utf8')) as readonly Span[];
  const called = (name: string) => spans.filter(({ attributes }) => attributes['graphql.operation.name'] === name);
  const [request] = called('Shown');
  expect(request).toMatchObject({ name: 'cellport.request', traceId: TRACE, parent: PARENT, kind: 1, status: 0 });
  const parts = spans.filter(({ parent }) => parent === request?.spanId);
  expect(new Set(parts.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const names = parts.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['cellport.plan', 'cellport.decode']));
  const calls = parts.filter(({ name }) => name.startsWith('DynamoDB '));
  const units = calls.map(({ attributes }) => Number(attributes['cellport.read_units']));
  expect(units.reduce((sum, each) => sum + each, 0)).toBe(request?.attributes['cellport.read_units']);
  expect(units.every((each) => each > 0)).toBe(true);
  expect(calls[0]).toMatchObject({ kind: 2, attributes: { 'db.system.name': 'aws.dynamodb' } });
  expect(called('Wrong')).toMatchObject([{ attributes: { 'error.type': 'BAD_USER_INPUT' }, status: 0 }]);
  expect(called('/tiles/:collection/:z/:x/:y')).toHaveLength(1);
  expect(JSON.stringify(spans)).not.toMatch(/secret|Hidden|1\.2345|parks/);
});
