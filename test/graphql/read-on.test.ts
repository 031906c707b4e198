import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { distance } from '../../src/geo/distance.js';
import { encode } from '../../src/geo/geohash.js';
import { GraphqlServer } from '../../src/graphql/server.js';
import { compareBytes } from '../../src/keys/byte-order.js';
import { silentLog } from '../../src/log.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/model/limits.js';
import type { SearchReader } from '../../src/search/engine.js';
import { createServices } from '../../src/server/services.js';
import { newCall } from '../../src/store/database.js';
import { createZone } from '../../src/store/zone/zones.js';
import { makeCollection, NOW, realMarkers, type Made } from '../map/fixture.js';
import { memoryDatabase } from '../support/memory-store.js';
import { testPages } from '../support/page-services.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, variants } from '../support/rounds.js';

const database = memoryDatabase();
const calls = recordCalls(database);
const CITIES = realMarkers(40);
/** Markers in two of 1,024 partitions, both near the end. */
const LAST: readonly Made[] = [100, 140].map((lng, index) => ({
  key: `last-${index}`,
  position: { lng, lat: 60 + index },
  category: 'x',
  properties: {},
}));
const ZONES = 900;

interface PageOf {
  readonly nodes: readonly { readonly key: string }[];
  /** Of a search, instead of nodes. */
  readonly edges?: readonly { readonly node: { readonly key: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly endCursor: string | null;
    readonly shortBecause: string | null;
  };
}

const servers: GraphqlServer[] = [];
const PAGE = '{ nodes { key } pageInfo { hasNextPage hasPreviousPage endCursor shortBecause } }';

interface Options {
  readonly trusted?: boolean;
  readonly limits?: Partial<Limits>;
  readonly search?: SearchReader;
  /** Query calls that a page may take. */
  readonly mostCalls?: number;
}

/** Asks for pages of a list, each in a request of its own, until there are no more; `field` contains `$after`. */
async function pagesOf(
  field: string,
  { trusted = false, limits = {}, search, mostCalls = 2_048 }: Options = {},
  most = Infinity,
) {
  const services = createServices(database, {
    ...testPages({ trusted }),
    limits: { ...DEFAULT_LIMITS, deadlineMs: 300_000, ...limits },
    search: search && {
      open: () => search,
      hasRead: () => true,
      status: { state: 'following', read: 0, reason: null },
    },
  });
  const server = await GraphqlServer.open(services, silentLog);
  servers.push(server);
  const query = `query($after: String) { ${field} }`;
  const found: PageOf[] = [];
  for (let after: string | null = null; found.length < most;) {
    calls.reset();
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, search: '', body: { query, variables: { after } } };
    const { body } = await server.answer(request, new AbortController().signal);
    const { data, errors } = JSON.parse(String(body)) as { data: unknown; errors?: unknown };
    expect(errors).toBeUndefined();
    let page = data as PageOf;
    while (!('pageInfo' in page)) [page] = Object.values(page) as [PageOf];
    const { hasNextPage, hasPreviousPage, endCursor } = page.pageInfo;
    expect(hasPreviousPage).toBe(after !== null);
    expect(calls.count('Query')).toBeLessThan(mostCalls);
    found.push({ ...page, nodes: page.edges?.map(({ node }) => node) ?? page.nodes });
    if (!hasNextPage) break;
    expect(endCursor).not.toBe(after);
    after = endCursor;
  }
  return found;
}

const keysOf = (pages: readonly PageOf[]) => pages.flatMap(({ nodes }) => nodes.map(({ key }) => key));
const isEmptyInBetween = ({ nodes, pageInfo }: PageOf) => nodes.length === 0 && pageInfo.hasNextPage;
const ofCollection = (key: string, field: string) => `collection(key: "${key}") { ${field} ${PAGE} }`;
const ofWorld = (field: string) =>
  `viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 1) { ${field} ${PAGE} }`;
const sorted = (keys: readonly string[]) => keys.toSorted(compareBytes);

beforeAll(async () => {
  await makeCollection(database, { key: 'cities', code: 'Ci' }, CITIES);
  await makeCollection(database, { key: 'fine', code: 'Fi', prefixLength: 6 }, LAST);
  const last = await makeCollection(database, { key: 'last', code: 'La' }, LAST);
  for (let index = 0; index <= ZONES; index++) {
    const east = index === ZONES ? 50 : -50;
    const ring = [
      [east, 10],
      [east + 1, 10],
      [east, 11],
      [east, 10],
    ];
    const geometry = { type: 'Polygon', coordinates: [ring] };
    await createZone(newCall(database), last, { key: `zone-${String(index).padStart(5, '0')}`, geometry }, NOW);
  }
});

afterAll(async () => {
  for (const server of servers) await server.stop();
});

const turn = inTurn(2);

describe('a page is not empty while there is more', () => {
  test.runIf(turn())('of a collection, before its pages can be trusted', async () => {
    const [first, ...others] = await pagesOf(ofCollection('last', 'markers(first: 5000, after: $after)'));
    expect(keysOf([first!])).toHaveLength(2);
    expect(others.every((page) => !isEmptyInBetween(page))).toBe(true);
    const all = await pagesOf(ofCollection('cities', 'markers(first: 5000, after: $after)'));
    expect(all.some(isEmptyInBetween)).toBe(false);
    expect(sorted(keysOf(all))).toEqual(sorted(CITIES.map(({ key }) => key)));
  });

  test.runIf(turn()).each(variants([true, false]))('of a filtered viewport, from pages: %s', async (trusted) => {
    const wanted = CITIES.filter(({ category }) => category === 'NZ').map(({ key }) => key);
    const filter = 'filter: { category: ["NZ"] }';
    const field = ofWorld(`markers(collection: "cities", first: 3, after: $after, ${filter})`);
    for (const limits of [{}, { itemsPerField: 100 }]) {
      const found = await pagesOf(field, { trusted, limits });
      expect(found.some(isEmptyInBetween)).toBe(false);
      expect(sorted(keysOf(found))).toEqual(sorted(wanted));
    }
  });

  test.runIf(turn())('if a filter must look up markers', async () => {
    const long = CITIES.filter(({ properties }) => properties['long'] !== undefined);
    const byPosition = long.toSorted((a, b) => compareBytes(encode(a.position, 10), encode(b.position, 10)));
    const { key, properties } = byPosition.at(-1)!;
    const filter = `filter: { properties: [{ name: "rank", eq: ${String(properties['rank'])} }] }`;
    const field = ofWorld(`markers(collection: "cities", first: 3, after: $after, ${filter})`);
    const found = await pagesOf(field, { trusted: true, limits: { queryCalls: 40, itemsPerField: 100 } });
    expect(found.some(isEmptyInBetween)).toBe(false);
    expect(keysOf(found)).toEqual([key]);
  });

  test.runIf(turn())('by distance, although a ring takes more reads than a page may make', async () => {
    const center = { lng: -60, lat: -40 };
    const field = 'within(center: { lng: -60, lat: -40 }, radius: 20000000, first: 10, after: $after)';
    const found = await pagesOf(ofCollection('last', field));
    expect(found.some(isEmptyInBetween)).toBe(false);
    const nearest = LAST.toSorted((a, b) => distance(center, a.position) - distance(center, b.position));
    expect(keysOf(found)).toEqual(nearest.map(({ key }) => key));
  });

  test.runIf(turn())('of zones, although those of one page are all outside', async () => {
    const bounds = '{ west: 0, south: -89, east: 179, north: 89 }';
    const zones = `viewport(bounds: ${bounds}, zoom: 1) { zones(collection: "last", first: 5, after: $after) ${PAGE} }`;
    const found = await pagesOf(zones);
    expect(keysOf(found)).toEqual(['zone-00900']);
    expect(found).toHaveLength(1);
  });

  test.runIf(turn())('of a search, although its first results no longer exist', async () => {
    const keys = [...Array.from({ length: 60 }, (_, index) => `gone-${index}`), 'last-0'];
    const search: SearchReader = {
      checkpoint: () => Promise.resolve(undefined),
      count: () => Promise.resolve(keys.length),
      isPosition: (text) => /^\d+$/.test(text),
      close: () => Promise.resolve(),
      search: (_query, { after = '-1', limit }) => {
        const begin = Number(after) + 1;
        const hits = keys.slice(begin, begin + limit);
        return Promise.resolve(
          hits.map((key, index) => {
            const position = String(begin + index);
            return { key: database.keys.marker('last', key), incarnation: '', score: 1, position };
          }),
        );
      },
    };
    const nodes =
      '{ edges { node { ... on Marker { key } } } pageInfo { hasNextPage hasPreviousPage endCursor shortBecause } }';
    const found = await pagesOf(`search(text: "last", first: 2, after: $after) ${nodes}`, { search });
    expect(keysOf(found)).toEqual(['last-0']);
    expect(found).toHaveLength(1);
  });
});

describe('a short page says why', () => {
  test.runIf(turn())('if it has found nothing in half of the time for the request', async () => {
    const limits = { deadlineMs: 3_000, queryCalls: 40 };
    const options = { limits, mostCalls: Infinity };
    const [first] = await pagesOf(ofCollection('fine', 'markers(first: 10, after: $after)'), options, 1);
    expect(first).toMatchObject({ nodes: [], pageInfo: { hasNextPage: true, shortBecause: 'DEADLINE' } });
  });

  test.runIf(turn())('and only a short one', async () => {
    const all = await pagesOf(ofCollection('cities', 'markers(first: 500, after: $after)'));
    for (const { nodes, pageInfo } of all) {
      const isShort = nodes.length < 500 && pageInfo.hasNextPage;
      expect(pageInfo.shortBecause).toBe(isShort ? 'READ_BUDGET' : null);
    }
    expect(all.some(({ pageInfo }) => pageInfo.shortBecause !== null)).toBe(true);
    const whole = await pagesOf(ofCollection('cities', 'markers(first: 500, after: $after)'), { trusted: true });
    expect(whole.every(({ pageInfo }) => pageInfo.shortBecause === null)).toBe(true);
  });
});
