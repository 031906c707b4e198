import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { createCollection } from '../src/store/collection/collections.js';
import { newCall, type Database } from '../src/store/database.js';
import { newMarkerItem } from '../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../src/store/marker/markers.js';
import { rangeRequest } from '../src/store/request/ranges.js';
import { settingsOf } from '../test/support/engine-settings.js';
import { randomFrom } from '../test/support/random.js';
import type { BareAnswer, BareOrder } from './http/bare.js';
import { load, post } from './http/load.js';
import { startMeasured, waitForOutput, type Measured } from './http/processes.js';
import { profiled } from './http/profile.js';
import { openFreshTables } from './rig/fresh-tables.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/** A place with a number of markers, and the viewport that contains exactly these. */
interface Place {
  readonly markers: number;
  readonly bounds: { readonly west: number; readonly south: number; readonly east: number; readonly north: number };
  readonly zoom: number;
}

const SMALL: Place = { markers: 500, bounds: { west: 10, south: 50, east: 10.6, north: 50.25 }, zoom: 10.5 };
export const LARGE: Place = { markers: 1_000, bounds: { west: 20, south: 50, east: 21.2, north: 50.5 }, zoom: 9.5 };

const CONNECTIONS = 4;
const ROUNDS = 5;
const ROUND_MS = 3_000;
const WARM_UP_MS = 4_000;
const PAIRS = 100;

/** Creates the collection `places` with the markers of both places. */
export async function fillPlaces(database: Database): Promise<void> {
  const now = new Date().toISOString();
  const input = { key: 'places', name: 'Places', mapProperties: ['size'] };
  const collection = await createCollection(newCall(database), input, now);
  const next = randomFrom(1);
  const items = [SMALL, LARGE].flatMap(({ markers, bounds: { west, south, east, north } }) =>
    Array.from({ length: markers }, (_, index) => {
      const position = { lng: west + next() * (east - west), lat: south + next() * (north - south) };
      return newMarkerItem(
        database,
        collection,
        {
          key: `${markers}-${index}`,
          position,
          name: `The place of number ${index}`,
          category: ['park', 'café', 'museum'][index % 3] ?? null,
          properties: { size: Math.floor(next() * 1_000), open: index % 2 === 0, note: 'as found on the map' },
        },
        now,
      );
    }),
  );
  await putMarkersInBulk(newCall(database), items);
}

/** The request for a field of a viewport. */
export const question = (field: string, { bounds, zoom }: Place) =>
  JSON.stringify({
    query: `query ($bounds: BoundsInput!, $zoom: Float!) { viewport(bounds: $bounds, zoom: $zoom) { ${field} } }`,
    variables: { bounds, zoom },
  });

const COUNT = 'count(collection: "places")';
const FEATURES = 'features(collection: "places")';
const PLAN = 'plan(collection: "places") { ranges { index pk from to } }';
export const MARKERS = `markers(collection: "places") { nodes { id key name category position { lng lat } geohash properties } }`;

interface Answer {
  readonly data: {
    readonly viewport: {
      readonly count: number;
      readonly features: unknown;
      readonly plan: {
        readonly ranges: readonly { index: 'geoA' | 'geoB' | 'pages'; pk: string; from: string; to: string }[];
      };
    };
  };
}

interface Bench {
  readonly server: Measured;
  readonly url: string;
  /** A second server, which caches nothing but the directory of pages. */
  readonly uncachedUrl: string;
  readonly bare: Measured;
  readonly database: Database;
}

async function ask(url: string, body: string): Promise<Answer> {
  const agent = new Agent();
  const { status, text } = await post(agent, url, body);
  if (status !== 200) throw new Error(`${status}: ${String(text)}`);
  return JSON.parse(String(text)) as Answer;
}

/** Resolves once the cells include all markers, so that plans use counts. */
async function warm({ url }: Bench): Promise<void> {
  for (const place of [SMALL, LARGE]) {
    while ((await ask(url, question(COUNT, place))).data.viewport.count !== place.markers) {
      await sleep(200);
    }
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const ms = (value: number) => `${value.toFixed(1)} ms`;

/** CPU time per response in the responding process, and responses per second. */
interface Side {
  readonly cpuMs: number;
  readonly perSecond: number;
}

const figure = (sides: readonly Side[], of: keyof Side) => median(sides.map((side) => side[of]));

/** CPU time per millisecond of an idle process: the server keeps reading the stream. */
async function idleCpu(process: Measured): Promise<number> {
  const before = await process.cpu();
  await sleep(ROUND_MS);
  return ((await process.cpu()) - before) / ROUND_MS;
}

async function round(process: Measured, url: string, body: string, idle: number): Promise<Side> {
  const before = await process.cpu();
  const { answers, seconds } = await load(url, body, CONNECTIONS, ROUND_MS);
  const used = (await process.cpu()) - before - idle * seconds * 1_000;
  return { cpuMs: used / answers, perSecond: answers / seconds };
}

/** Measures the server and the bare server with the same data, in alternating rounds. */
async function sideBySide(bench: Bench, body: string) {
  const data = [await ask(bench.url, body)];
  const { port } = await bench.bare.ask<{ port: number }>({ do: 'serve', data } satisfies BareOrder);
  const bareUrl = `http://127.0.0.1:${port}/0`;
  await load(bench.url, body, CONNECTIONS, WARM_UP_MS);
  await load(bareUrl, body, CONNECTIONS, ROUND_MS / 3);
  const idle = await idleCpu(bench.server);
  const ours: Side[] = [];
  const floor: Side[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    ours.push(await round(bench.server, bench.url, body, idle));
    floor.push(await round(bench.bare, bareUrl, body, 0));
  }
  return {
    ours: { cpuMs: figure(ours, 'cpuMs'), perSecond: figure(ours, 'perSecond') },
    floor: { cpuMs: figure(floor, 'cpuMs'), perSecond: figure(floor, 'perSecond') },
  };
}

type SdkRun = Extract<BareAnswer, { ms: number }>;

/** Returns a function that makes the Query calls of a viewport's plan with the bare SDK. */
async function bareSdk({ url, bare, database }: Bench, place: Place): Promise<() => Promise<SdkRun>> {
  const { ranges } = (await ask(url, question(PLAN, place))).data.viewport.plan;
  // Pages are items of the derived table, as cells are.
  const requests = ranges.map(({ index, ...range }) =>
    rangeRequest(database, { index: index === 'pages' ? 'derived' : index, ...range }),
  );
  return () => bare.ask<SdkRun>({ do: 'query', requests } satisfies BareOrder);
}

/** A viewport of 500 markers compared to the SDK making the same Query calls, one at a time, alternating. */
async function viewport(bench: Bench, url: string, where: string, most: number): Promise<Row> {
  const body = question(MARKERS, SMALL);
  const query = await bareSdk(bench, SMALL);
  const agent = new Agent({ keepAlive: true });
  const ours: number[] = [];
  const sdk: number[] = [];
  await load(url, body, 1, WARM_UP_MS);
  for (let turn = 0; turn < 2 * PAIRS; turn++) {
    const began = performance.now();
    await post(agent, url, body);
    const took = performance.now() - began;
    const bare = await query();
    // The first half warms up the compilers of both.
    if (turn < PAIRS) continue;
    ours.push(took);
    sdk.push(bare.ms);
  }
  agent.destroy();
  const ratio = median(ours) / median(sdk);
  return {
    what: `500 markers with 8 fields, ${where}, p50`,
    bar: `at most ${most} times`,
    measured: `${ms(median(ours))}, ${ratio.toFixed(2)} times`,
    against: `bare SDK, same calls: ${ms(median(sdk))}`,
    holds: ratio <= most,
  };
}

/** CPU time of the bare SDK for the Query calls of the large viewport. */
async function sdkCpu(bench: Bench): Promise<number> {
  const query = await bareSdk(bench, LARGE);
  const used: number[] = [];
  for (let turn = 0; turn < PAIRS; turn++) used.push((await query()).cpuMs);
  return median(used.slice(PAIRS / 2));
}

async function measure(bench: Bench, { say }: BenchOptions): Promise<Section> {
  await warm(bench);
  say('a viewport of 500 markers');
  const cached = await viewport(bench, bench.url, 'in memory', 1.5);
  const uncached = await viewport(bench, bench.uncachedUrl, 'nothing cached', 2);
  say('1,000 markers as features');
  const features = question(FEATURES, LARGE);
  const asFeatures = await sideBySide(bench, features);
  say('1,000 markers with 8 fields');
  const markers = question(MARKERS, LARGE);
  const asMarkers = await sideBySide(bench, markers);
  const reading = await sdkCpu(bench);
  const times = (cpuMs: number, { floor }: typeof asMarkers) => `${(cpuMs / floor.cpuMs).toFixed(1)} times`;
  const cpuRow = (what: string, sides: typeof asMarkers, bar: string, most?: number): Row => ({
    what: `${what}, CPU a response`,
    bar,
    measured: `${ms(sides.ours.cpuMs)}, ${times(sides.ours.cpuMs, sides)}`,
    against: `bare server: ${ms(sides.floor.cpuMs)}; bare SDK: ${ms(reading)}`,
    holds: most === undefined ? undefined : sides.ours.cpuMs <= most * sides.floor.cpuMs,
  });
  const rows: Row[] = [
    cached,
    uncached,
    {
      what: '1,000 markers as features',
      bar: 'as many',
      measured: `${asFeatures.ours.perSecond.toFixed(0)}/s`,
      against: `bare server: ${asFeatures.floor.perSecond.toFixed(0)}/s`,
      holds: asFeatures.ours.perSecond >= asFeatures.floor.perSecond,
    },
    cpuRow('1,000 markers with 8 fields', asMarkers, 'at most 2.5 times', 2.5),
  ];
  for (const [what, body] of [
    ['features', features],
    ['markers with 8 fields', markers],
  ] as const) {
    say(`functions with the most self time, ${what}:`);
    say(await profiled(bench.server, () => load(bench.url, body, CONNECTIONS, ROUND_MS)));
  }
  return {
    title: 'Answers over HTTP',
    isDetail: true,
    rows,
    text: 'The bare server only turns objects in memory into JSON. The 1,000 markers are cached.',
  };
}

export const http: Benchmark = {
  name: 'http',
  hasCounts: false,
  async run(options) {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: root });
    const { engine, database, close } = await openFreshTables({ table: 'bench-http' });
    const env = {
      ...settingsOf(engine),
      CELLPORT_ENGINE: 'aws',
      CELLPORT_TABLE: database.tables.entities,
      PORT: '0',
    };
    const server = startMeasured(['dist/cli/main.js', 'serve'], env);
    const bare = startMeasured(['--import', 'tsx', 'bench/http/bare.ts'], env);
    let uncached: Measured | undefined;
    try {
      const [, url = ''] = await waitForOutput(server, /Serving\s+(http:\S+)/);
      // The first server to start follows the stream, and caches pages.
      uncached = startMeasured(['dist/cli/main.js', 'serve'], { ...env, CELLPORT_CACHE_MB: '0' });
      const [, other = ''] = await waitForOutput(uncached, /Serving\s+(http:\S+)/);
      await fillPlaces(database);
      const bench = { server, url: `${url}/graphql`, uncachedUrl: `${other}/graphql`, bare, database };
      return await measure(bench, options);
    } finally {
      await Promise.all([server.stop(), uncached?.stop(), bare.stop()]);
      await close();
    }
  },
};
