import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLInputType,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { encode } from '../../src/geo/geohash.js';
import { compiling } from '../../src/graphql/execution/executor.js';
import { buildSchema } from '../../src/graphql/schema.js';
import { DEFAULT_LIMITS } from '../../src/model/limits.js';
import { createFolderStore } from '../../src/objects/folder-store.js';
import { documentOf } from '../../src/search/document.js';
import { openEmbeddedEngine } from '../../src/search/embedded/embedded-engine.js';
import type { SearchEngine } from '../../src/search/engine.js';
import { inLine } from '../../src/search/line.js';
import { makeCollection, realMarkers } from '../map/fixture.js';
import { allItems } from '../stream/support.js';
import { testPages } from '../support/page-services.js';
import { rounds, variants } from '../support/rounds.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testDatabase } from '../support/test-database.js';
import { threadCpu, watchRounds } from '../support/thread-cpu.js';
import { startServer, type LiveServer } from './live-server.js';

type Json = Readonly<Record<string, unknown>>;

/** How to make a field work as hard as possible; `vary` makes aliases of it differ. */
interface Heavy {
  readonly args: (vary: number) => Json;
  readonly select?: string;
  /** By default, as many aliases as fit into a request. */
  readonly aliases?: number;
  /** Arguments of which one is replaced by something large, if `args` leave no room for that. */
  readonly small?: Json;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A star with this many positions. */
function star(positions: number, lng: number, lat = 20, squeeze = 0.2) {
  const ring = numbers(positions - 1).map((index) => {
    const angle = (2 * Math.PI * index) / (positions - 1);
    const reach = index % 2 === 0 ? 60 : 60 * squeeze;
    return [
      Number((lng + reach * Math.cos(angle)).toFixed(5)),
      Number((lat + (reach / 2) * Math.sin(angle)).toFixed(5)),
    ];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

const FILTER = {
  category: numbers(1_000).map((index) => `category ${index}`),
  properties: numbers(50).map((index) => ({ name: `p${index}`, in: numbers(400).map((value) => `v${value}`) })),
};
const NODES = 'edges { cursor node { id name category properties position { lng lat } } } pageInfo { endCursor }';
const CITIES = { collection: 'cities' };
const MARKER = { id: 'marker::cities::crowd-0' };
/** Properties as large as an item may be. */
const LARGE = Object.fromEntries(numbers(3_000).map((index) => [`property ${index}`, `${'v'.repeat(90)}${index}`]));
const marker = (vary: number, index: number) => ({
  key: `new-${vary}-${index}`,
  position: { lng: index / 10, lat: vary / 3 },
  name: 'n'.repeat(100),
  properties: { some: 'x'.repeat(2_000) },
});
const around = (vary: number) => ({ lng: 10 + vary / 100, lat: 50 });

/** Every field that takes arguments or is a root, and those without arguments that read. */
const FIELDS: Readonly<Record<string, Heavy>> = {
  'Query.viewer': { args: () => ({}), select: 'name roles may { collections actions }' },
  'Query.node': { args: (vary) => ({ id: `marker::cities::crowd-${vary % 30}` }), select: 'id' },
  'Query.nodes': { args: () => ({ ids: numbers(5_000).map((index) => `marker::cities::n${index}`) }), select: 'id' },
  'Query.collection': { args: () => ({ key: 'cities' }), select: 'id count bounds { west }' },
  'Query.collections': { args: (vary) => ({ first: 5_000 - vary }), select: 'nodes { id count }', aliases: 19 },
  'Query.marker': { args: (vary) => ({ id: `marker::cities::crowd-${vary % 30}` }), select: 'id properties' },
  'Query.markerByGlobalId': { args: (vary) => ({ globalId: `${vary}` }), select: 'id' },
  'Query.cell': { args: (vary) => ({ ...CITIES, geohash: `u${'0123456789bcdefg'[vary % 16]}` }), select: 'count' },
  'Query.search': {
    args: (vary) => ({
      text: '',
      collections: numbers(50).map(() => 'cities'),
      bounds: { west: -180, south: -90, east: 180, north: 90 - vary / 10 },
      first: 5_000,
    }),
    select: 'edges { cursor score node { ... on Node { id } } }',
    aliases: 19,
  },
  'SearchConnection.totalCount': { args: () => ({}) },
  'Query.viewport': {
    args: (vary) => ({ bounds: { west: -180, south: -90, east: 180, north: 90 - vary / 10 }, zoom: 3 }),
    select: 'count(collection: "cities") clusters(collection: "cities") { count }',
    aliases: 95,
  },
  'Cell.children': { args: () => ({}), select: 'geohash count' },
  'Cell.markers': { args: () => ({ first: 5_000 }), select: NODES },
  'Collection.count': { args: () => ({}) },
  'Collection.bounds': { args: () => ({}), select: 'west' },
  'Collection.marker': { args: (vary) => ({ key: `crowd-${vary % 30}` }), select: 'id' },
  'Collection.markers': { args: (vary) => ({ first: 5_000 - vary, filter: FILTER }), select: NODES },
  'Collection.markersIn': {
    args: (vary) => ({ place: numbers(12).map((index) => `${vary}-${index}`), first: 5_000 }),
    select: NODES,
  },
  'Collection.places': { args: (vary) => ({ under: numbers(11).map((index) => `${vary}-${index}`) }), select: 'name' },
  'Collection.within': {
    args: (vary) => ({ center: around(vary), radius: 2e7, first: 5_000, filter: FILTER }),
    select: NODES,
  },
  'Collection.nearest': { args: (vary) => ({ center: around(vary), count: 1_000 }), select: 'distance node { id }' },
  'Collection.inside': {
    small: { polygon: star(5, 10) },
    args: (vary) => ({ polygon: star(9_999, vary), first: 5_000 }),
    select: NODES,
  },
  'Collection.zone': { args: () => ({ key: 'large' }), select: 'id' },
  'Collection.zones': {
    args: (vary) => ({ first: 5_000 - vary }),
    select: 'nodes { id bounds { west } }',
    aliases: 19,
  },
  'Collection.zonesAt': { args: (vary) => ({ point: { lng: 10 + vary / 100, lat: 20 } }), select: 'id' },
  'Marker.readings': { args: (vary) => ({ last: 5_000 - vary }), select: 'at values', aliases: 19 },
  'Marker.readingSummaries': {
    args: (vary) => ({ value: `v${vary}`, from: '2020-01-01T00:00:00Z', first: 5_000 }),
    select: 'next',
    aliases: 19,
  },
  'Marker.cell': { args: (vary) => ({ precision: 1 + (vary % 12) }), select: 'count' },
  'Viewport.markers': { args: (vary) => ({ ...CITIES, first: 5_000 - vary }), select: NODES },
  'Viewport.cells': { args: () => ({ ...CITIES, precision: 4 }), select: 'geohash count centroid { lng lat }' },
  'Viewport.clusters': {
    args: (vary) => ({ ...CITIES, radius: 1 + vary }),
    select: 'count geohashes position { lng lat }',
  },
  'Viewport.count': { args: () => CITIES },
  'Viewport.auto': {
    args: (vary) => ({ ...CITIES, limit: 5_000 - vary, filter: FILTER }),
    select: 'total markers { id }',
  },
  'Viewport.features': { args: (vary) => ({ ...CITIES, limit: 5_000 - vary }) },
  'Viewport.zones': {
    args: (vary) => ({ ...CITIES, first: 5_000 - vary }),
    select: 'nodes { id bounds { west } }',
    aliases: 19,
  },
  'Viewport.plan': { args: () => CITIES, select: 'ranges { pk from to bounds { west } }' },
  'Zone.geometry': { args: (vary) => ({ maxVertices: 1_000 + vary }) },
  'Zone.markers': { args: (vary) => ({ first: 5_000 - vary, collection: 'cities' }), select: NODES },
  'Zone.count': { args: () => ({ collection: 'cities' }) },
  'Mutation.createCollection': {
    small: { input: { key: 'new', name: 'New' } },
    args: (vary) => ({
      input: { key: `c${vary}`, name: 'n'.repeat(100_000), mapProperties: numbers(64).map((index) => `p${index}`) },
    }),
    select: 'id',
    aliases: 20,
  },
  'Mutation.updateCollection': {
    small: { input: { key: 'parks' } },
    args: () => ({ input: { key: 'parks', name: 'n'.repeat(100_000) } }),
    select: 'id',
    aliases: 20,
  },
  'Mutation.deleteCollection': { args: (vary) => ({ key: `c${vary}` }), select: 'id', aliases: 5 },
  'Mutation.createMarker': {
    small: { input: { ...CITIES, ...marker(0, 0) } },
    args: (vary) => ({ input: { ...CITIES, ...marker(vary, 0), properties: LARGE } }),
    select: 'id',
    aliases: 8,
  },
  'Mutation.createMarkers': {
    small: { ...CITIES, markers: [] },
    args: (vary) => ({ ...CITIES, markers: numbers(500).map((index) => marker(vary, index)) }),
    select: 'markers { id properties } failures { code }',
    aliases: 2,
  },
  'Mutation.upsertMarkers': {
    small: { ...CITIES, markers: [] },
    args: (vary) => ({ ...CITIES, markers: numbers(500).map((index) => marker(vary, index)) }),
    select: 'created failures { code }',
    aliases: 2,
  },
  'Mutation.recordReadings': {
    small: { marker: MARKER.id, readings: [] },
    args: (vary) => ({
      marker: MARKER.id,
      readings: numbers(1_000).map((index) => ({
        at: new Date(1e12 + vary * 1e6 + index).toISOString(),
        values: { a: index, text: 'x'.repeat(2_000) },
      })),
    }),
    aliases: 1,
  },
  'Mutation.updateMarker': {
    small: { input: MARKER },
    args: () => ({ input: { ...MARKER, properties: LARGE } }),
    select: 'id',
    aliases: 8,
  },
  'Mutation.deleteMarker': { args: (vary) => ({ id: `marker::cities::new-${vary}-0` }), select: 'id properties' },
  'Mutation.deleteMarkers': {
    small: { ids: [] },
    args: (vary) => ({ ids: numbers(500).map((index) => `marker::cities::new-${vary}-${index}`) }),
    select: 'deleted failures { code }',
    aliases: 2,
  },
  'Mutation.createZone': {
    small: { input: { ...CITIES, key: 'new', geometry: star(5, 10) } },
    args: (vary) => ({ input: { ...CITIES, key: `z${vary}`, geometry: star(100_000, vary) } }),
    select: 'id',
    aliases: 1,
  },
  'Mutation.updateZone': {
    small: { input: { id: 'zone::cities::large' } },
    args: () => ({ input: { id: 'zone::cities::large', geometry: star(100_000, 11) } }),
    select: 'id',
    aliases: 1,
  },
  'Mutation.deleteZone': { args: (vary) => ({ id: `zone::cities::z${vary}` }), select: 'id' },
  'Subscription.markerChanged': { args: () => ({ ...CITIES }), select: 'id' },
  'Subscription.readingRecorded': { args: () => ({ marker: MARKER.id }), select: 'at' },
};

const schema = buildSchema();
const typeOf = (name: string) => {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`${name} is no object type`);
  return type;
};
const fieldOf = (name: string) => {
  const [type = '', field = ''] = name.split('.');
  const found = typeOf(type).getFields()[field];
  if (!found) throw new Error(`there is no field ${name}`);
  return found;
};

/** A document around a field: `$a0`, `$a1` … are the arguments of its aliases. */
function documentAround(type: string, fields: (index: number) => string, count: number): string {
  const all = (make: (index: number) => string) =>
    numbers(count)
      .map((index) => make(index))
      .join(' ');
  const inCities = (text: string) => `collection(key: "cities") { ${text} }`;
  const world = (index: number) => `west: -180, south: -90, east: 180, north: ${90 - index / 10}`;
  switch (type) {
    case 'Query':
    case 'Mutation':
    case 'Subscription':
      return `{ ${all(fields)} }`;
    case 'SearchConnection':
      return `{ ${all((index) => `s${index}: search(text: "", bounds: { ${world(index)} }) { ${fields(index)} }`)} }`;
    case 'Collection':
      return `{ ${inCities(all(fields))} }`;
    case 'Cell':
      return `{ ${all((index) => `s${index}: cell(collection: "cities", geohash: "${encode(around(index), 1 + (index % 4))}") { ${fields(index)} }`)} }`;
    case 'Marker':
      return `{ marker(id: "${MARKER.id}") { ${all(fields)} } }`;
    case 'Zone':
      return `{ ${inCities(`zone(key: "large") { ${all(fields)} }`)} }`;
    default:
      return `{ ${all((index) => `s${index}: viewport(bounds: { ${world(index)} }, zoom: 3) { ${fields(index)} }`)} }`;
  }
}

/** A request for aliases of a field with these arguments, as JSON. */
function requestFor(name: string, all: readonly Json[]): string {
  const [type = '', fieldName = ''] = name.split('.');
  const { args } = fieldOf(name);
  const select = FIELDS[name]?.select;
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const field = (index: number) => {
    const given = args.filter((arg) => Object.hasOwn(all[index] ?? {}, arg.name));
    const passed = given.map((arg) => {
      const variable = `a${index}_${arg.name}`;
      variables[variable] = all[index]?.[arg.name];
      declared.push(`$${variable}: ${String(arg.type)}`);
      return `${arg.name}: $${variable}`;
    });
    return `f${index}: ${fieldName}${passed.length > 0 ? `(${passed.join(', ')})` : ''}${select === undefined ? '' : ` { ${select} }`}`;
  };
  const body = documentAround(type, field, all.length);
  const kind = ['Mutation', 'Subscription'].includes(type) ? type.toLowerCase() : 'query';
  return JSON.stringify({
    query: `${kind} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} ${body}`,
    variables,
  });
}

const ROOM = DEFAULT_LIMITS.maxBodyBytes - 20_000;

/** The largest values of a type that a body has room for. */
function extremes({ name, type }: { readonly name: string; readonly type: GraphQLInputType }): unknown[] {
  const own = getNullableType(type);
  if (isListType(own)) {
    const item = getNamedType(own.ofType);
    const short = item.name === 'String' || item.name === 'ID' ? 'a' : isInputObjectType(item) ? {} : 0;
    return [Array.from({ length: Math.floor(ROOM / (isInputObjectType(item) ? 20 : 4)) }, () => short)];
  }
  if (isInputObjectType(own)) return [];
  const deep = (levels: number): unknown => (levels === 0 ? numbers(100) : numbers(3).map(() => deep(levels - 1)));
  switch (own.name) {
    case 'String':
    case 'ID':
      return [
        // A cursor of nothing but brackets, or text that takes long to normalize.
        name === 'after' ? Buffer.from('['.repeat(0.74 * ROOM)).toString('base64url') : '\u0316\u0301'.repeat(ROOM / 4),
      ];
    case 'Geohash':
    case 'DateTime':
      return ['9'.repeat(ROOM)];
    case 'GeoJSON':
      return [
        star(ROOM / 21, 10),
        {
          type: 'MultiPolygon',
          coordinates: numbers(ROOM / 60).map(() => [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ]),
        },
      ];
    case 'JSON':
    case 'JSONObject':
      return [
        Object.fromEntries(numbers(ROOM / 21).map((index) => [`name-${index}`, `v${index}`])),
        { a: deep(8) },
        { a: numbers(ROOM / 8) },
      ];
    default:
      return [2_147_483_647];
  }
}

/** Arguments with one of them, or one field of an input object, replaced by something as large as possible. */
function* enlarged(args: Json, definitions: readonly GraphQLArgument[]): Generator<Json> {
  for (const definition of definitions) {
    const { name, type } = definition;
    for (const value of extremes(definition)) yield { ...args, [name]: value };
    const input = getNullableType(type);
    if (!isInputObjectType(input)) continue;
    for (const field of Object.values(input.getFields())) {
      for (const value of extremes(field)) yield { ...args, [name]: { ...(args[name] as Json), [field.name]: value } };
    }
  }
}

/** A client in a thread of its own, whose work is not this thread's. */
const CLIENT = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', async ({ url, body }) => {
  const gone = new AbortController();
  const late = setTimeout(() => gone.abort(), url.endsWith('/stream') ? 500 : 60000);
  let text = '';
  try {
    const headers = { 'content-type': 'application/json', accept: url.endsWith('/stream') ? 'text/event-stream' : 'application/json' };
    text = await (await fetch(url, { method: 'POST', headers, body, signal: gone.signal })).text();
  } catch (error) { text = String(error); }
  clearTimeout(late);
  parentPort.postMessage(text.slice(0, 300) + ' … ' + [...new Set(text.match(/"code":"[A-Z_]+"/g))].join());
});`;

const folder = temporaryFolder();
const db = await testDatabase('readable');
let index: SearchEngine;
let server: LiveServer;
let client: Worker;

beforeAll(async () => {
  await makeCollection(db, { key: 'cities' }, realMarkers(40));
  await makeCollection(db, { key: 'parks', code: 'Pa' }, []);
  index = await openEmbeddedEngine({ folder, table: 'steps', maxBytes: 2 ** 28 }, () => Date.now());
  const documents = (await allItems(db, db.tables.entities)).flatMap(
    (item) => documentOf(db.keys, item, new Map()) ?? [],
  );
  await index.write(
    documents.map((document) => ({ type: 'put', document })),
    'filled',
  );
  const reader = inLine(index, 1);
  server = await startServer(db, {
    search: { open: () => reader, hasRead: () => true, status: { state: 'following', read: 0, reason: null } },
    objects: createFolderStore(folder),
    ...testPages({ trusted: true }),
    // Both executors, as other tests have them, would double each step.
    executor: compiling,
  });
  client = new Worker(CLIENT, { eval: true });
  await send(
    '/graphql',
    requestFor('Mutation.createZone', [{ input: { ...CITIES, key: 'large', geometry: star(100_000, 10) } }]),
  );
  await send('/graphql', requestFor('Mutation.recordReadings', [FIELDS['Mutation.recordReadings']?.args(0) ?? {}]));
});
afterAll(async () => {
  await client.terminate();
  await server.close();
  await index.close();
});

/** Sends a request; returns the beginning of its answer, and its error codes. */
function send(path: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    client.once('message', resolve);
    client.postMessage({ url: `${server.url}${path}`, body });
  });
}

/** The longest round of the event loop while a request is answered, in ms of CPU. */
async function longestRound(name: string, body: string): Promise<{ ms: number; answer: string }> {
  const stop = watchRounds();
  const answer = await send(name.startsWith('Subscription') ? '/graphql/stream' : '/graphql', body);
  await sleep(5);
  return { ms: stop(), answer };
}

test('every field that takes arguments is tried', () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const all = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap(({ name, args }) =>
          roots.includes(type) || args.length > 0 ? [`${type.name}.${name}`] : [],
        )
      : [],
  );
  expect(all.filter((name) => FIELDS[name] === undefined)).toEqual([]);
});

/** A body of the largest size is parsed in one step; no other may take much longer. In ms of CPU. */
function paceOfMachine(): number {
  const body = JSON.stringify(star(ROOM / 21, 10));
  const start = threadCpu();
  for (let round = 0; round < 4; round += 1) JSON.parse(body);
  return (threadCpu() - start) / 4;
}

/** Those with the longest steps, and with the most work for their size. */
const DANGEROUS = ['Query.nodes', 'Query.search', 'Collection.inside', 'Mutation.createMarkers', 'Mutation.createZone'];
const all = Object.entries(FIELDS);
const [first] = variants(DANGEROUS);
// Others in each run, unless all are tried.
const tried = variants(all, all.length)
  .toSorted(([one], [other]) => Number(other === first) - Number(one === first))
  .slice(0, rounds('longestSteps'));

test.each(tried)('%s never holds up the event loop for long', async (name, heavy) => {
  const { args, aliases = 190, small = args(0) } = heavy;
  let longest = 4 * paceOfMachine();
  const fitting = Math.floor(ROOM / (JSON.stringify(args(0)).length + 100));
  const count = name.startsWith('Subscription') ? 1 : Math.max(1, Math.min(aliases, fitting));
  const asked: readonly (readonly Json[])[] = [
    [args(0)],
    ...(count === 1 ? [] : [numbers(count).map((vary) => args(vary))]),
    ...[...enlarged(small, fieldOf(name).args)].map((one) => [one]),
  ];
  for (const one of asked) {
    const body = requestFor(name, one);
    const found = { ms: Infinity, answer: '' };
    // A collection of garbage may fall into one of them, and other processes may slow down both the step and the pace.
    for (let round = 0; round < 6 && found.ms > longest; round += 1) {
      const { ms, answer } = await longestRound(name, body);
      Object.assign(found, { ms: Math.min(found.ms, ms), answer });
      if (found.ms > longest) longest = Math.max(longest, 4 * paceOfMachine());
    }
    expect.soft(found.ms, `${body.slice(0, 300)} … ${found.answer}`).toBeLessThan(longest);
  }
});
