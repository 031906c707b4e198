// The set-up and the comparison assert, too.
// oxlint-disable vitest/no-standalone-expect
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const RULES = {
  roles: {
    anonymous: [{ collections: ['parks', 'shops-*'], may: ['read'] }],
    driver: {
      rules: [
        {
          collections: ['vehicles'],
          may: ['read'],
          where: { properties: [{ name: 'fleet', eq: '$fleet' }] },
          hide: ['margin'],
        },
      ],
      budget: { units: 100_000, per: 'day' },
    },
    both: [
      { collections: ['parks'], may: ['read'] },
      { collections: ['veh*'], may: ['read'], where: { properties: [{ name: 'fleet', eq: '$fleet' }] } },
    ],
    blind: [{ collections: ['ranked'], may: ['read'], hide: ['profit'] }],
    admin: [{ collections: ['*'], may: ['read', 'write', 'admin'] }],
  },
};
const folder = temporaryFolder();
let server: GuardedServer;
let north: Record<string, string>;
let both: Record<string, string>;
let admin: Record<string, string>;

const SEARCH = `query ($text: String!, $collections: [String!], $bounds: BoundsInput, $first: Int, $after: String) {
  search(text: $text, bounds: $bounds, collections: $collections, first: $first, after: $after) {
    totalCount
    pageInfo { endCursor hasNextPage }
    edges { score node { ... on Marker { id name properties } ... on Collection { id } } }
  }
}`;

const profitOf = (letter: string) => (7 * (letter.charCodeAt(0) - 97)) % 12;
const EVERYWHERE = { west: -180, south: -90, east: 180, north: 90 };

interface Found {
  readonly totalCount: number;
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
  readonly edges: readonly { readonly score: number; readonly node: { readonly id: string; readonly name?: string } }[];
}

async function search(
  text: string,
  headers: Record<string, string>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Found> {
  const { data, errors } = await server.ask(SEARCH, { text, first: 60, ...more }, headers);
  expect(errors).toEqual([]);
  return data.search as Found;
}
const idsOf = ({ edges }: Found) => edges.map(({ node }) => node.id).sort();

beforeAll(async () => {
  const now = new Date().toISOString();
  for (const key of ['parks', 'shops-a', 'shops-b', 'vehicles', 'private']) {
    const collection = await testCollection(db, { key, name: `All ${key}`, mapProperties: ['fleet'] }, now);
    const markers = Array.from({ length: 40 }, (_, n) => ({
      key: `${key}-${n}`,
      position: { lng: 10 + n / 100, lat: 50 },
      name: n % 4 === 1 ? 'Kiosk' : `Wagon ${n}`,
      category: 'thing',
      properties: { fleet: n % 4 === 0 ? 'north' : 'south', margin: `margin${n % 3}`, note: `note${n % 2}` },
    }));
    expect((await createMarkers(newCall(db), collection, markers, now)).failures).toEqual([]);
  }
  const ranked = await testCollection(db, { key: 'ranked', name: 'Ranked', rankBy: 'profit' }, now);
  const byProfit = Array.from({ length: 12 }, (_, n) => ({
    key: 'abcdefghijkl'.charAt(n),
    position: { lng: 1, lat: 1 },
    name: 'Kiln',
    properties: { profit: profitOf('abcdefghijkl'.charAt(n)) },
  }));
  await createMarkers(newCall(db), ranked, byProfit, now);
  server = await guardedServer(db, RULES, {
    CELLPORT_SEARCH_MB: '64',
    CELLPORT_DATA_DIR: folder,
    CELLPORT_MAX_FIRST: '60',
  });
  north = bearer(await createKey(db, { roles: ['driver'], variables: { fleet: 'north' } }));
  both = bearer(await createKey(db, { roles: ['both'], variables: { fleet: 'north' } }));
  admin = bearer(await createKey(db, { roles: ['admin'] }));
  await vi.waitFor(
    async () => {
      const { data } = await server.ask(SEARCH, { text: 'thing', first: 1 }, admin);
      expect(data.search).toMatchObject({ totalCount: 200 });
      expect((await search('kiln', admin)).totalCount).toBe(12);
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => server.close());

const own = Array.from({ length: 10 }, (_, n) => `marker::vehicles::vehicles-${4 * n}`).sort();

test('only what may be read is found and counted, whether collections are named or not', async () => {
  for (const more of [{}, { collections: ['vehicles'] }]) {
    const found = await search('wagon', north, more);
    expect(idsOf(found)).toEqual(own);
    expect(found.totalCount).toBe(10);
    expect(JSON.stringify(found)).not.toMatch(/south|margin/);
  }
  const nobody = await search('thing', {});
  expect(nobody.totalCount).toBe(120);
  expect(idsOf(nobody).filter((id) => /vehicles|private/.test(id))).toEqual([]);
  const mixed = await search('thing', both);
  expect([mixed.totalCount, mixed.edges.length]).toEqual([50, 50]);
  expect(idsOf(mixed).filter((id) => id.includes('vehicles'))).toEqual(own);
  // Collections themselves.
  expect(idsOf(await search('all', both))).toEqual(['collection::parks', 'collection::vehicles']);
  const [hidden, unused] = await Promise.all(
    ['private', 'unused'].map((key) => server.ask(SEARCH, { text: 'wagon', collections: [key] }, north)),
  );
  const text = (answer: unknown) => JSON.stringify(answer).replaceAll(/private|unused/g, 'X');
  expect(text(hidden)).toBe(text(unused));
});

test('a hidden property finds nothing, not even by what it changes of other searches', async () => {
  expect((await search('margin1', admin, { collections: ['vehicles'] })).totalCount).toBe(13);
  for (const words of ['margin1', 'wagon margin', 'note0 margin1']) {
    expect(await search(words, north)).toMatchObject({ totalCount: 0, edges: [] });
  }
  expect(idsOf(await search('thing note0', north))).toEqual(own);
  expect(idsOf(await search('nor', north))).toEqual(own);
});

test('what a search costs does not count the markers that are not seen', async () => {
  const costs = { ...bearer(await createKey(db, { roles: ['driver'], variables: { fleet: 'north' } })) };
  const told = async (text: string) => {
    const { data, extensions, headers } = await server.ask(
      SEARCH,
      { text, first: 5 },
      { ...costs, 'x-cellport-cost': '1' },
    );
    return [data.search.totalCount, extensions, headers.get('ratelimit')];
  };
  // There are ten of others, and none.
  expect(await told('kiosk')).toEqual(await told('nothing'));
});

test('names with typos are found however many others match', async () => {
  // Ten kiosks of others would be enough.
  expect((await search('kiosk', both, { collections: ['vehicles'] })).edges).toEqual([]);
  const { data } = await server.ask(
    `mutation { createMarker(input: { collection: "vehicles", key: "near", name: "Kiosc", position: { lng: 1, lat: 1 },
      properties: { fleet: "north" } }) { id } }`,
    {},
    admin,
  );
  expect(data.createMarker.id).toBe('marker::vehicles::near');
  await vi.waitFor(
    async () => expect((await search('kiosk', both, { collections: ['vehicles'] })).totalCount).toBe(1),
    { timeout: 20_000, interval: 200 },
  );
});

test('pages have every own result once', async () => {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const found: Found = await search('thing', both, { first: 7, after });
    ids.push(...found.edges.map(({ node }) => node.id));
    after = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : null;
  } while (after !== null);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(50);
});

test('a total for which too many others would have to be checked is refused', async () => {
  const markers = Array.from({ length: 25 }, (_, n) => ({
    key: `more-${n}`,
    position: { lng: 1, lat: 1 },
    name: 'Wagon',
  }));
  await server.ask(
    'mutation ($markers: [MarkerInput!]!) { createMarkers(collection: "vehicles", markers: $markers) { failures { message } } }',
    { markers },
    admin,
  );
  await vi.waitFor(
    async () => {
      const { data, errors } = await server.ask(SEARCH, { text: '', bounds: EVERYWHERE, first: 5 }, north);
      expect([data.search, errors[0]?.extensions]).toMatchObject([null, { code: 'LIMIT_EXCEEDED', limit: 60 }]);
    },
    { timeout: 20_000, interval: 200 },
  );
});

test('the order of hits does not tell of a hidden property by which they are ranked', async () => {
  const blind = bearer(await createKey(db, { roles: ['blind'] }));
  const keys = (found: Found) => found.edges.map(({ node }) => node.id.split('::')[2]);
  const letters = Array.from('abcdefghijkl');
  expect(keys(await search('kiln', admin))).toEqual(letters.toSorted((a, b) => profitOf(b) - profitOf(a)));
  expect(keys(await search('kiln', blind))).toEqual(letters);
  const paged: unknown[] = [];
  for (let after: string | null | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const found = await search('kiln', blind, { first: 5, after });
    paged.push(...keys(found));
    after = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : null;
  }
  expect(paged).toEqual(letters);
});
