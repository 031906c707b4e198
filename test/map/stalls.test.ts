import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { ringRelation } from '../../src/geo/circle.js';
import { coverShape } from '../../src/geo/cover.js';
import { GraphqlServer } from '../../src/graphql/server.js';
import { Budget } from '../../src/loaders/budget.js';
import { silentLog } from '../../src/log.js';
import type { Collection } from '../../src/model/collection.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/model/limits.js';
import { planReads } from '../../src/pages/plan-reads.js';
import { createServices } from '../../src/server/services.js';
import { prepareGeometry } from '../../src/store/zone/zone-geometry.js';
import { memoryDatabase } from '../support/memory-store.js';
import { testPages } from '../support/page-services.js';
import { makeCollection, realMarkers, requestContext } from './fixture.js';

/** A star with this many vertices. */
function star(vertices: number) {
  const ring = Array.from({ length: vertices - 1 }, (_, index) => {
    const angle = (2 * Math.PI * index) / (vertices - 1);
    const reach = index % 2 === 0 ? 60 : 12;
    return [10 + reach * Math.cos(angle), 20 + (reach / 2) * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

const aliases = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ');

const inCities = (fields: string) => `{ collection(key: "cities") { ${fields} } }`;

/** CPU time in ms, which unlike wall-clock time does not advance while other processes run. */
function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

describe('the event loop', () => {
  const memory = memoryDatabase('readable');
  let services: ReturnType<typeof createServices>;
  let cities: Collection;
  const servers: GraphqlServer[] = [];

  beforeAll(async () => {
    cities = await makeCollection(memory, { key: 'cities' }, realMarkers(40));
    const consumerStatus = () => ({ owner: true, behindMs: 0, countsExact: true });
    services = createServices(memory, { consumerStatus, ...testPages({ trusted: true }) });
  });

  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  /** Measures the longest CPU time in ms for which nothing else could run, until it is stopped. */
  function watchStalls(): () => number {
    let longest = 0;
    let last = process.cpuUsage();
    const turn = setInterval(() => {
      longest = Math.max(longest, cpuSince(last));
      last = process.cpuUsage();
    }, 1);
    return () => {
      clearInterval(turn);
      return longest;
    };
  }

  /** Sends a request to a server with limits of its own. */
  async function ask(query: string, variables: object = {}, limits: Partial<Limits> = {}) {
    const server = await GraphqlServer.open(
      { ...services, limits: { ...DEFAULT_LIMITS, deadlineMs: 120_000, ...limits } },
      silentLog,
    );
    servers.push(server);
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, search: '', body: { query, variables } };
    const { body } = await server.answer(request, new AbortController().signal);
    const { data, errors = [] } = JSON.parse(String(body)) as {
      data?: Record<string, unknown>;
      errors?: { message: string; extensions: { code: string } }[];
    };
    return { data, errors };
  }

  test('fields that read the same pages resume in turns', async () => {
    const { loaders } = requestContext(memory).context;
    const budget = Budget.of(DEFAULT_LIMITS);
    const pages = await loaders.pages.open(cities);
    const cover = coverShape(ringRelation({ lng: 10, lat: 50 }, 0, 1_000_000), 192);
    const { directory = new Map() } = (await pages?.directory(cover, Infinity, budget)) ?? {};
    const reads = planReads(directory, cover);
    expect(reads.length).toBeGreaterThan(0);
    // How often everything else could run before each of them.
    let rounds = 0;
    let next = setImmediate(function count() {
      rounds += 1;
      next = setImmediate(count);
    });
    const before = await Promise.all(
      Array.from({ length: 10 }, async () => {
        await pages?.read(reads, [], budget, cover);
        const until = performance.now() + 25;
        while (performance.now() < until);
        return rounds;
      }),
    );
    clearImmediate(next);
    expect(new Set(before).size).toBe(10);
  });

  test('a zone of 100,000 vertices is validated and covered in turns', async () => {
    const geometry = star(100_000);
    let share = 1;
    // A collection of garbage may fall into one stretch.
    for (let round = 0; round < 4 && share >= 0.4; round += 1) {
      const stopWatch = watchStalls();
      await wait(20);
      const start = process.cpuUsage();
      await prepareGeometry(geometry, services.db.scheduler.takeTurn);
      const all = cpuSince(start);
      await wait(20);
      share = Math.min(share, stopWatch() / all);
    }
    // Without turns, one stretch was most of it.
    expect(share).toBeLessThan(0.4);
  });

  test('lists count all of their objects, at any depth', async () => {
    const query = inCities(`markers(first: 500) { ${aliases(5, () => 'nodes { id }')} }`);
    const { data, errors } = await ask(query, {}, { maxNodes: 2_499 });
    const message =
      'number of objects in the answer is more than 2499, the limit is 2499: request shorter pages, or fewer nested lists';
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ message, extensions: { code: 'LIMIT_EXCEEDED' } }]);
    expect((await ask(query, {}, { maxNodes: 2_500 })).errors).toEqual([]);
  });

  test.each([
    ['in', { name: 'a', in: Array.from({ length: 1_001 }, (_, index) => index) }, 'a list of at most 1000 JSON values'],
    ['in', { name: 'a', in: ['x'.repeat(20_001)] }, 'at most 20000 characters'],
    ['eq', { name: 'a', eq: JSON.parse('['.repeat(40) + ']'.repeat(40)) as unknown }, 'at most 32 levels deep'],
  ])('a filter of %s has a limit', async (comparison, property, allowed) => {
    const query = `query($f: MarkerFilter) ${inCities('markers(filter: $f) { nodes { id } }')}`;
    const { errors } = await ask(query, { f: { properties: [property] } });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain(`filter.properties[0].${comparison} must be`);
    expect(errors[0]?.message).toContain(allowed);
  });

  test('a filter has at most 50 comparisons and 1,000 categories', async () => {
    const query = `query($f: MarkerFilter) ${inCities('markers(filter: $f) { nodes { id } }')}`;
    const properties = Array.from({ length: 51 }, () => ({ name: 'a', eq: 1 }));
    const category = Array.from({ length: 1_001 }, () => 'x');
    const [first, second] = [await ask(query, { f: { properties } }), await ask(query, { f: { category } })];
    expect(first.errors[0]?.message).toContain('filter.properties must be a list of at most 50 comparisons');
    expect(second.errors[0]?.message).toContain('filter.category must be a list of at most 1000 categories');
  });
});
