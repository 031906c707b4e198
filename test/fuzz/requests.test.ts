import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { compiling } from '../../src/graphql/executor.js';
import { buildSchema } from '../../src/graphql/schema.js';
import type { Database } from '../../src/store/database.js';
import { createCollection } from '../../src/store/collection/collections.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { newCall } from '../../src/store/request/meter.js';
import { type LiveServer, fillCells, startServer } from '../http/live-server.js';
import { memoryDatabase } from '../support/memory-store.js';
import { randomFrom } from '../support/random.js';
import { rounds } from '../support/rounds.js';
import { testDatabase } from '../support/test-database.js';
import { fuzzedRequest } from './documents.js';
import { NO_TIMEOUT, SEED, expectNoFault, report } from './faults.js';
import { type Known, choosing } from './values.js';

const schema = buildSchema();
const CONCURRENT = 4;

const FIRST_PAGES = `{
  collections(first: 1) {nodes {id} pageInfo {endCursor}}
  collection(key: "parks") {markers(first: 2) {nodes {id cell(precision: 4) {geohash}} pageInfo {endCursor}}
    within(center: {lat: 52.5, lng: 13.4}, radius: 100000, first: 2) {pageInfo {endCursor}}}
}`;

/** Two collections with markers and their cells, and what documents may name of them. */
async function fill(db: Database, server: LiveServer): Promise<Known> {
  const now = '2026-11-21T10:00:00.000Z';
  const parks = await createCollection(db, { key: 'parks', name: 'Parks', mapProperties: ['size'] }, now, newCall());
  await createCollection(db, { key: 'huts', name: 'Huts' }, now, newCall());
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
    markers.push((await createMarker(db, parks, input, now, newCall())).marker);
  }
  await fillCells(db, parks, markers);
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
  beforeAll(async () => {
    const db = await open();
    server = await startServer(db, { limits: { maxNodes: 3_000 }, executor: (of) => compiling(of, { runsBefore: 0 }) });
    known = await fill(db, server);
  });
  afterAll(() => server.close());

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
          const response = await server.post(JSON.stringify(request));
          const text = await response.text();
          expectNoFault({ seed, sent: request, status: response.status, text, logged: server.logged });
          const found = [...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code = '']) => code);
          for (const code of found.length === 0 ? ['none'] : new Set(found))
            codes.set(code, (codes.get(code) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT }, one));
      report(operation, rounds(name), codes);
      // Many documents are answered in full.
      expect(codes.get('none') ?? 0).toBeGreaterThan(0);
    },
    NO_TIMEOUT,
  );
});
