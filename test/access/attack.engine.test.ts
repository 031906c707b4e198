// The set-up and the comparison assert, too.
// oxlint-disable vitest/no-standalone-expect
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { randomFrom } from '../support/random.js';
import { someOf, variants } from '../support/rounds.js';
import { testCollection, testDatabase } from '../support/test-database.js';
import { bearer, createKey, guardedServer, setRules, type Answer, type GuardedServer } from './guarded-server.js';

const db = await testDatabase('readable', { stream: true });
const NOW = '2026-11-21T10:00:00.000Z';
const BEFORE = '2026-11-21T09:30:00.000Z';
// What the rows are of is hidden, too.
const READ = { may: ['read'], hide: ['margin', 'fleet'] };
const FLEET = { properties: [{ name: 'fleet', eq: '$fleet' }] };
const RULES = {
  roles: {
    driver: [
      { ...READ, collections: ['mixed-drawn', 'mixed-pages'], where: FLEET },
      { ...READ, collections: ['mixed-details'], where: { ...FLEET, updatedAfter: BEFORE } },
    ],
    admin: [{ collections: ['*'], may: ['read', 'write', 'record', 'admin'] }],
  },
};
/** Collections by what their copies of markers show, each with one of only what the rows have. */
const KINDS = {
  drawn: { mapProperties: ['speed', 'fleet'] },
  details: { mapProperties: ['speed'] },
  pages: { mapProperties: ['fleet'], geoIndex: false },
} as const;
type Kind = keyof typeof KINDS;
const kinds = variants(Object.keys(KINDS) as Kind[]);
const MARKERS = 300;
const zone = { west: 9.5, south: 49.6, east: 10.4, north: 50.3 };

/** Markers in crowds and alone, a third of them in the rows. */
const random = randomFrom(5);
const markers = Array.from({ length: MARKERS }, (_, n) => {
  const wide = [0.01, 0.5, 20][n % 3] ?? 1;
  const around = (center: number) => Math.round((center + (random() - 0.5) * wide) * 1e5) / 1e5;
  const isOwn = n % 3 === Math.floor(n / 3) % 3;
  return {
    key: `m${n}`,
    position: { lng: around(10), lat: around(50) },
    name: `Name ${n}`,
    category: n % 2 === 0 ? 'even' : 'odd',
    place: ['Town', `Quarter ${isOwn ? n % 4 : n % 7}`],
    properties: {
      speed: n % 50,
      fleet: isOwn ? 'north' : 'foreign',
      margin: `secret ${n}`,
      ...(n % 5 < 2 ? { note: 'x'.repeat(300) } : {}),
    },
  };
});
const own = markers
  .filter(({ properties: { fleet } }) => fleet === 'north')
  .map(({ properties: { fleet: _fleet, margin: _margin, ...properties }, ...one }) => ({ ...one, properties }));
/** Of the fleet as well, where only new ones are in the rows. */
const OLD = new Set(
  markers.flatMap(({ key, properties: { fleet, speed } }) => (fleet === 'foreign' && speed < 20 ? key : [])),
);

let server: GuardedServer;
let north: Record<string, string>;
let admin: Record<string, string>;

const PAGE = 'nodes { key name category position { lng lat } properties } pageInfo { endCursor hasNextPage }';

/** One question, as the field of a query on a collection with key `$key`; `{}` are the arguments of its page, if it has pages. */
interface Question {
  readonly field: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The questions of a round. */
function questionsOf(seed: number): Question[] {
  const next = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const wide = pick([0.005, 0.05, 0.4, 3, 30]);
  const [lng, lat] = [10 + (next() - 0.5) * wide, 50 + (next() - 0.5) * wide];
  const bounds = { west: lng - wide, south: lat - wide / 2, east: lng + wide, north: lat + wide / 2 };
  const filter = pick([
    null,
    null,
    { category: ['even'] },
    { updatedAfter: pick(['2026-11-21T09:00:00Z', '2026-11-22T00:00:00Z']) },
    { properties: [{ name: 'speed', gte: Math.floor(next() * 50) }] },
    { properties: [{ name: 'fleet', [pick(['eq', 'ne'])]: pick(['north', 'foreign']) }] },
    { properties: [{ name: pick(['fleet', 'margin']), exists: pick([true, false]) }], category: ['odd'] },
    { properties: [{ name: 'margin', contains: 'secret' }] },
    { properties: [{ name: 'note', exists: pick([true, false]) }], updatedAfter: '2026-11-20T00:00:00Z' },
  ]);
  const polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [bounds.west, bounds.south],
        [bounds.east, bounds.south],
        [lng, bounds.north],
        [bounds.west, bounds.south],
      ],
    ],
  };
  const zoom = Math.floor(next() * 22);
  const key = `m${Math.floor(next() * MARKERS)}`;
  const geohash = 'u0yjjd5kdmgz'.slice(0, 1 + Math.floor(next() * 7));
  const view = `viewport(bounds: $bounds, zoom: ${zoom})`;
  const at = { lng, lat };
  const radius = wide * 80_000;
  const cluster = 'count centroid { lng lat } geohashes expansionZoom marker { key }';
  const limit = pick([3, 30, 500]);
  const collection = (field: string) => `collection(key: $key) { ${field} }`;
  const cell = (field: string) => `cell(collection: $key, geohash: "${geohash}") { ${field} }`;
  const cells = 'geohash count centroid { lng lat }';
  const fields = [
    `${view} { markers(collection: $key, filter: $filter {}) { ${PAGE} } }`,
    `${view} { count(collection: $key) }`,
    `${view} { cells(collection: $key) { ${cells} } }`,
    `${view} { clusters(collection: $key) { ${cluster} } }`,
    `${view} { auto(collection: $key, limit: ${limit}, filter: $filter) { mode total markers { key } clusters { ${cluster} } } }`,
    `${view} { features(collection: $key, limit: ${limit}, filter: $filter) }`,
    collection(`count bounds { west south east north }`),
    collection(`markers(filter: $filter {}) { ${PAGE} }`),
    collection(`within(center: $at, radius: ${radius}, filter: $filter {}) { ${PAGE} }`),
    collection(`nearest(center: $at, count: ${limit}, filter: $filter) { distance node { key properties } }`),
    collection(`inside(polygon: $polygon, filter: $filter {}) { ${PAGE} }`),
    collection(`zone(key: "z") { count markers(filter: $filter) { ${PAGE} } }`),
    collection(`marker(key: "${key}") { key properties version geojson readings { values } }`),
    collection(`marker(key: "${key}") { key place cell(precision: 4) { ${cells} } }`),
    cell(`${cells} parent { ${cells} } children { ${cells} }`),
    cell(`markers(first: 100) { ${PAGE} }`),
  ];
  return fields.map((field) => ({ field, variables: { bounds, at, polygon, filter } }));
}

/** The same in two answers: their collections have other keys, and their cursors are opaque. */
const plain = (answer: Pick<Answer, 'data' | 'errors'>) =>
  JSON.stringify([answer.data, answer.errors.map(({ message }) => message)])
    .replaceAll(/(mixed|own)-(drawn|details|pages)/g, 'X')
    .replaceAll(/"(end|start)Cursor":"[^"]*"/g, '');

const TYPES =
  'query ($key: String!, $bounds: BoundsInput!, $at: PointInput!, $polygon: GeoJSON!, $filter: MarkerFilter, $after: String)';

/** The answer to a question; of a list, with all of its pages. */
async function answerTo({ field, variables }: Question, key: string, headers: Record<string, string>, first: number) {
  const isList = field.includes('{}');
  const pages: string[] = [];
  for (let after: string | undefined; ;) {
    const query = `${TYPES} { ${field.replace('{}', `, first: ${first}, after: $after`)} }`;
    const names = ['bounds', 'at', 'polygon', 'filter', 'after'].filter((name) =>
      query.includes(`$${name}`, TYPES.length),
    );
    const declared = TYPES.replace(/, \$(\w+): \w+!?/g, (text, name: string) => (names.includes(name) ? text : ''));
    const answer = await server.ask(query.replace(TYPES, declared), { ...variables, key, after }, headers);
    if (!isList || answer.errors.length > 0) return plain(answer);
    const { endCursor, hasNextPage, nodes } = pageIn(answer.data);
    pages.push(...nodes.map((node) => JSON.stringify(node)));
    if (!hasNextPage) return pages.join('\n');
    after = endCursor;
  }
}

interface Page {
  readonly nodes: readonly unknown[];
  readonly endCursor: string;
  readonly hasNextPage: boolean;
}

/** The list in an answer, wherever it is. */
function pageIn(data: Readonly<Record<string, unknown>>): Page {
  for (let at: unknown = data; ;) {
    const inner = at as { readonly nodes?: readonly unknown[]; readonly pageInfo?: Omit<Page, 'nodes'> };
    if (inner.nodes && inner.pageInfo) return { nodes: inner.nodes, ...inner.pageInfo };
    at = Object.values(inner).find((value) => typeof value === 'object' && value !== null);
    if (at === undefined) throw new Error('no list');
  }
}

async function start(env: Record<string, string>): Promise<void> {
  server = await guardedServer(db, RULES, env);
}

/** Compares the answers of all rounds; `expected` are those of an unlimited client, by question. */
async function compare(rounds: readonly number[], expected: Map<string, string>, isRefusable = false): Promise<number> {
  let compared = 0;
  for (const kind of kinds) {
    for (const seed of rounds) {
      for (const [index, question] of questionsOf(seed).entries()) {
        const name = `${kind} ${seed} ${index}`;
        const first = [6, 25, 100][seed % 3] ?? 1;
        const seen = await answerTo(question, `mixed-${kind}`, north, first);
        const told = expected.get(name) ?? (await answerTo(question, `own-${kind}`, admin, 1_000));
        expected.set(name, told);
        // Whoever asks for too much is told so, and how much is too much may depend on what others have.
        if (isRefusable && seen.includes('the limit is')) continue;
        expect(JSON.stringify([name, question, seen]).replaceAll(/x{9,}/g, 'x')).toBe(
          JSON.stringify([name, question, told]).replaceAll(/x{9,}/g, 'x'),
        );
        expect(seen).not.toMatch(/foreign|secret/);
        compared += 1;
      }
    }
  }
  return compared;
}

beforeAll(async () => {
  for (const kind of kinds) {
    for (const [key, list] of [
      [`mixed-${kind}`, markers],
      [`own-${kind}`, own],
    ] as const) {
      const collection = await testCollection(db, { key, name: key, ...KINDS[kind] }, NOW);
      for (let from = 0; from < list.length; from += 100) {
        const some = list.slice(from, from + 100);
        const isOld = ({ key: marker }: { readonly key: string }) => kind === 'details' && OLD.has(marker);
        const old = some.filter(isOld).map((one) => ({ ...one, properties: { ...one.properties, fleet: 'north' } }));
        const rest = some.filter((one) => !isOld(one));
        for (const [time, each] of [
          [BEFORE, old],
          [NOW, rest],
        ] as const) {
          expect((await createMarkers(newCall(db), collection, each, time)).failures).toEqual([]);
        }
      }
    }
  }
  await start({});
  north = bearer(await createKey(db, { roles: ['driver'], variables: { fleet: 'north' } }));
  admin = bearer(await createKey(db, { roles: ['admin'] }));
  const { west, south, east, north: top } = zone;
  const ring = [west, south, east, south, east, top, west, south];
  const coordinates = [Array.from({ length: 4 }, (_, n) => ring.slice(2 * n, 2 * n + 2))];
  for (const key of kinds.flatMap((kind) => [`mixed-${kind}`, `own-${kind}`])) {
    const { errors } = await server.ask(
      `mutation ($geometry: GeoJSON!) { createZone(input: { collection: "${key}", key: "z", geometry: $geometry }) { key }
        a: recordReadings(marker: "marker::${key}::m0", readings: [{ values: { a: 1 } }]) }`,
      { geometry: { type: 'Polygon', coordinates } },
      admin,
    );
    expect(errors).toEqual([]);
  }
  await vi.waitFor(
    async () => {
      for (const kind of kinds) {
        const { data } = await server.ask(`{ collection(key: "mixed-${kind}") { count countsExact } }`, {}, admin);
        expect(data).toEqual({ collection: { count: MARKERS, countsExact: true } });
      }
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(() => server.close());

describe('random questions of a principal with rows are answered as of a collection with only these', () => {
  const expected = new Map<string, string>();
  const rounds = Array.from({ length: Math.max(2, someOf(8)) }, (_, n) => n);

  test('from pages', async () => {
    expect(await compare(rounds, expected)).toBeGreaterThan(30 * kinds.length);
  });

  test('places, and markers in them, page by page', async () => {
    for (const kind of kinds) {
      const answers = [];
      for (const [key, headers] of [
        [`mixed-${kind}`, north],
        [`own-${kind}`, admin],
      ] as const) {
        const places = await server.ask(
          `{ collection(key: "${key}") { places { name count } under: places(under: ["Town"]) { name place count } } }`,
          {},
          headers,
        );
        const list = { field: `collection(key: $key) { markersIn(place: ["Town"] {}) { ${PAGE} } }`, variables: {} };
        answers.push([plain(places), await answerTo(list, key, headers, 9)]);
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  test('cursors outlive a change of the rules, and are no other list', async () => {
    const list = (after: string | null) =>
      server.ask(
        `query ($after: String) { collection(key: "mixed-${kinds[0]}") { markers(first: 3, after: $after) { nodes { key } pageInfo { endCursor } } } }`,
        { after },
        north,
      );
    const cursor = (await list(null)).data.collection.markers.pageInfo.endCursor as string;
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/u0|::/);
    const before = await list(cursor);
    await setRules(db, RULES);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await list(cursor)).data).toEqual(before.data);
  });

  test('from the geo index', async () => {
    await server.close();
    await start({ CELLPORT_CONSUMER: 'off' });
    // Pages are not read once no consumer has kept them for a while.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await compare(rounds.slice(0, Math.ceil(rounds.length / 2)), expected, true)).toBeGreaterThan(
      6 * kinds.length,
    );
  });
});
