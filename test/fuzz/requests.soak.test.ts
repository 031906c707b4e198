import type { GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { compiling, interpreting, type Executor } from '../../src/graphql/execution/executor.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { SearchEngine } from '../../src/search/engine.js';
import { newCall, type Database } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { fillCells, startServer, type LiveServer } from '../http/live-server.js';
import { documentOf } from '../search/documents.js';
import { comparing, newComparison, type Comparison } from '../support/compare-executors.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { fuzzedRequest, type FuzzedRequest } from './documents.js';
import { expectNoFault, NO_TIMEOUT, report, SEED } from './faults.js';
import { choosing, type Known } from './values.js';

const schema = buildSchema();
const CONCURRENT = 16;
/**
 * One in this many documents is sent over HTTP, which takes most of the time; test/fuzz/raw-inputs.soak.test.ts covers the
 * rest.
 */
const OVER_HTTP = 50;
/** One in this many documents is compiled, and one is executed both ways and compared. */
const COMPILED = 4;
const COMPARED = 32;

const FIRST_PAGES = `{
  collections(first: 1) {nodes {id} pageInfo {endCursor}}
  collection(key: "parks") {markers(first: 2) {nodes {id cell(precision: 4) {geohash}} pageInfo {endCursor}}
    within(center: {lat: 52.5, lng: 13.4}, radius: 100000, first: 2) {pageInfo {endCursor}}}
}`;

/** The choice of executor depends only on the document, so that its seed repeats it. */
const mixing =
  (compared: Comparison) =>
  (of: GraphQLSchema): Executor => {
    const [interpret, compile, compare] = [interpreting(of), compiling(of, { runsBefore: 0 }), comparing(compared)(of)];
    return async (execution) => {
      const choice = execution.document.loc?.end ?? 0;
      if (choice % COMPARED === 1) return compare(execution);
      return choice % COMPILED === 0 ? compile(execution) : interpret(execution);
    };
  };

/** The status and text of a response. */
async function answerTo(server: LiveServer, request: FuzzedRequest, overHttp: boolean) {
  const body = JSON.stringify(request);
  if (overHttp) {
    const response = await server.post(body);
    return { status: response.status, text: await response.text() };
  }
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', headers, search: '', body: JSON.parse(body) as unknown };
  const answer = await server.graphql.answer(asked, new AbortController().signal);
  return { status: answer.status, text: String(answer.body) };
}

/** Two collections with markers, their cells and search index, and the names by which documents may refer to them. */
async function fill(db: Database, server: LiveServer, index: SearchEngine): Promise<Known> {
  const now = '2026-11-21T10:00:00.000Z';
  const parks = await testCollection(db, { key: 'parks', name: 'Parks', mapProperties: ['size'] }, now);
  await testCollection(db, { key: 'huts', name: 'Huts' }, now);
  const markers = [];
  for (let at = 0; at < 40; at++) {
    const position = { lng: 13 + (at % 7) / 10, lat: 52 + (at % 5) / 10 };
    const input = {
      key: `m${at}`,
      position,
      category: 'park',
      properties: { size: at },
      place: ['Berlin', `P${at % 3}`],
    };
    markers.push((await createMarker(newCall(db), parks, input, now)).marker);
  }
  await fillCells(db, parks, markers);
  const scope = db.keys.scope(parks);
  const documents = markers.map(({ key, incarnation, version, position: { lng, lat } }) =>
    documentOf(`Park ${key}`, {
      key: db.keys.marker(scope, key),
      scope,
      incarnation,
      version,
      bounds: { west: lng, south: lat, east: lng, north: lat },
    }),
  );
  await index.write(
    documents.map((document) => ({ type: 'put', document })),
    'filled',
  );
  const { data, errors } = await server.ask(FIRST_PAGES);
  expect(errors).toEqual([]);
  const { markers: page, within } = data.collection;
  return {
    ids: [...page.nodes.map(({ id }: { id: string }) => id), data.collections.nodes[0].id],
    cursors: [page, within, data.collections].map(({ pageInfo }) => String(pageInfo.endCursor)),
  };
}

describe.each([
  ['query', () => memoryDatabase(), 'fuzzedQueries'],
  ['mutation', () => testDatabase(), 'fuzzedMutations'],
] as const)('a %s of the schema with values at the edges of its types', (operation, open, name) => {
  let server: LiveServer;
  let known: Known;
  let index: SearchEngine;
  const folder = temporaryFolder();
  const compared = newComparison();
  beforeAll(async () => {
    const db = await open();
    index = await openEmbeddedEngine({ folder, table: 'fuzz', maxBytes: 2 ** 26 }, () => Date.now());
    const search = {
      open: () => index,
      hasRead: () => true,
      status: { state: 'following', read: 0, reason: null },
    } as const;
    server = await startServer(db, { limits: { maxNodes: 3_000 }, executor: mixing(compared), search });
    known = await fill(db, server, index);
  });
  afterAll(async () => {
    await server.close();
    await index.close();
  });

  test(
    'is answered, and never with an internal error',
    async () => {
      let next = SEED;
      const last = SEED + rounds(name);
      const codes = new Map<string, number>();
      const one = async () => {
        while (next < last) {
          const seed = next++;
          const request = fuzzedRequest(schema, operation, choosing(randomFrom(seed)), known);
          const { status, text } = await answerTo(server, request, seed % OVER_HTTP === 0);
          expectNoFault({ seed, sent: request, status, text, logged: server.logged });
          const found = [...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code = '']) => code);
          for (const code of found.length === 0 ? ['none'] : new Set(found))
            codes.set(code, (codes.get(code) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT }, one));
      report(operation, rounds(name), codes);
      // Many documents are answered completely.
      expect(codes.get('none') ?? 0).toBeGreaterThan(0);
      expect(compared.differences).toEqual([]);
    },
    NO_TIMEOUT,
  );
});
