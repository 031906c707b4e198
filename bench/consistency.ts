import { setTimeout as sleep } from 'node:timers/promises';

import { startEngine, type Engine } from '../src/engine/start.js';
import { settingsOf } from '../test/support/engine-settings.js';
import { randomFrom } from '../test/support/random.js';
import { startMeasured, waitForOutput, type Measured } from './http/processes.js';
import { quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';

/** Maps per case; two markers are created in each, one after the other. */
const MAPS = 15;
const SEED = 5;
const POLL_MS = 5;
/** A change that is not visible after this time counts as an error. */
const PATIENCE_MS = 30_000;
/** Degrees from the center of a map to its edges. */
const SIZE = 0.02;

const QUERY = `query ($id: ID!, $building: [String!]!, $bounds: BoundsInput!) {
  marker(id: $id) { key }
  viewport(bounds: $bounds, zoom: 14) { markers(collection: "lag") { nodes { key } } count(collection: "lag") }
  collection(key: "lag") { markersIn(place: $building) { nodes { key } } places(under: $building) { count } }
}`;

/** The queries that can show a new marker. */
interface Shown {
  readonly marker: boolean;
  readonly markersIn: boolean;
  readonly viewport: boolean;
  readonly count: boolean;
  readonly places: boolean;
}

type What = keyof Shown;
const WHAT: readonly What[] = ['marker', 'markersIn', 'viewport', 'count', 'places'];
/** The queries whose delays differ by server. */
const COLUMNS = [
  ['viewport', 'markers of a viewport'],
  ['count', '`count` of a viewport'],
  ['places', '`places`'],
] as const satisfies readonly (readonly [What, string])[];

interface Server {
  readonly process: Measured;
  readonly url: string;
}

async function startServer(engine: Engine): Promise<Server> {
  const process = startMeasured(['--import', 'tsx', 'src/cli/main.ts', 'serve'], {
    PORT: '0',
    CELLPORT_ENGINE: 'aws',
    ...settingsOf(engine),
  });
  const [, url = ''] = await waitForOutput(process, /Serving +(http:\/\/\S+)/);
  return { process, url };
}

async function ask<T>({ url }: Server, query: string, variables: object = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: readonly { message: string }[] };
  if (errors !== undefined) throw new Error(errors[0]?.message);
  return data;
}

interface Answer {
  readonly marker: object | null;
  readonly viewport: { readonly markers: { readonly nodes: readonly object[] }; readonly count: number };
  readonly collection: {
    readonly markersIn: { readonly nodes: readonly object[] };
    readonly places: readonly { readonly count: number }[];
  };
}

/** An empty map that overlaps no other. */
interface Trial {
  readonly building: string;
  readonly position: { readonly lng: number; readonly lat: number };
  readonly bounds: object;
}

/** The expected result: the number of the map's markers, including this one. */
interface Wanted {
  readonly id: string;
  readonly count: number;
}

function trials(maps: number): readonly Trial[] {
  const random = randomFrom(SEED);
  return Array.from({ length: maps }, (_, at) => {
    const position = { lng: -100 + (at % 30) * 5 + random(), lat: -40 + Math.floor(at / 30) * 5 + random() };
    const { lng, lat } = position;
    const bounds = { west: lng - SIZE, south: lat - SIZE, east: lng + SIZE, north: lat + SIZE };
    return { building: `B${at}`, position, bounds };
  });
}

async function look(server: Server, { building, bounds }: Trial, { id, count }: Wanted): Promise<Shown> {
  const variables = { id, building: [building], bounds };
  const { marker, viewport, collection } = await ask<Answer>(server, QUERY, variables);
  return {
    marker: marker !== null,
    markersIn: collection.markersIn.nodes.length === count,
    viewport: viewport.markers.nodes.length === count,
    count: viewport.count === count,
    places: collection.places[0]?.count === count,
  };
}

/** Milliseconds from the response to a write until a server shows it; 0 if its first response does. */
type Delays = Readonly<Record<What, number[]>>;
const noDelays = (): Delays => ({ marker: [], markersIn: [], viewport: [], count: [], places: [] });

async function watch(server: Server, trial: Trial, wanted: Wanted, written: number, delays: Delays): Promise<void> {
  const waiting = new Set<What>(WHAT);
  for (let first = true; waiting.size > 0; first = false) {
    const shown = await look(server, trial, wanted);
    const after = performance.now() - written;
    if (after > PATIENCE_MS) throw new Error(`${[...waiting].join(', ')} did not show ${wanted.id}`);
    for (const what of waiting) {
      if (!shown[what]) continue;
      waiting.delete(what);
      delays[what].push(first ? 0 : after);
    }
    if (waiting.size > 0) await sleep(POLL_MS);
  }
}

interface Case {
  readonly title: string;
  readonly writer: Server;
  readonly reader: Server;
}

/** Delays of the first marker of a map, and of a second one beside it. */
interface Found {
  readonly first: Delays;
  readonly second: Delays;
}

/** For each map of a case: creates a marker, queries until all queries show it, then creates the next one. */
async function measure(cases: readonly Case[], all: readonly Trial[]): Promise<readonly Found[]> {
  const found = cases.map((): Found => ({ first: noDelays(), second: noDelays() }));
  for (const [at, trial] of all.entries()) {
    const { writer, reader } = cases[at % cases.length] ?? {};
    const into = found[at % cases.length];
    if (writer === undefined || reader === undefined || into === undefined) continue;
    const { building, position } = trial;
    for (const [count, delays] of [into.first, into.second].entries()) {
      const key = `${building}-${count}`;
      const wanted = { id: `marker::lag::${key}`, count: count + 1 };
      // The map is queried first, like by a user who then edits it.
      await look(reader, trial, wanted);
      const input = { collection: 'lag', key, position, place: [building, '1'] };
      await ask(writer, 'mutation ($input: CreateMarkerInput!) { createMarker(input: $input) { id } }', { input });
      await watch(reader, trial, wanted, performance.now(), delays);
    }
  }
  return found;
}

/** Maximum time until another server shows a marker on a map. */
const MOST_MS = 2_500;
const whole = (value: number) => Math.round(value).toLocaleString('en');
const late = (values: readonly number[]) => values.filter((value) => value > 0).length;
const figure = (values: readonly number[]) =>
  late(values) === 0 ? 'at once' : `${shown(quantile(values, 0.5), 0)}/${shown(quantile(values, 0.99), 0)}`;

/** How soon each query shows a write, on the server that made it and on another one. */
export const consistency: Benchmark = {
  name: 'consistency',
  hasCounts: false,
  async run({ say }): Promise<Section> {
    const engine = await startEngine({ dataDir: null });
    const servers: Server[] = [];
    try {
      // The first server keeps the counts.
      const keeper = await startServer(engine);
      servers.push(keeper);
      const follower = await startServer(engine);
      servers.push(follower);
      await ask(keeper, 'mutation { createCollection(input: { key: "lag", name: "Lag", code: "La" }) { id } }');
      // Longer than a server waits for changes from before its start: from here on it caches its reads.
      await sleep(12_000);
      const cases: readonly Case[] = [
        { title: 'wrote it, keeps the counts', writer: keeper, reader: keeper },
        { title: 'wrote it', writer: follower, reader: follower },
        { title: 'keeps the counts', writer: follower, reader: keeper },
        { title: 'neither', writer: keeper, reader: follower },
      ];
      const maps = MAPS * cases.length;
      const found = await measure(cases, trials(maps));
      const delays = found.flatMap(({ first, second }) => [first, second]);
      for (const what of WHAT) say(`${what}: ${delays.map((each) => figure(each[what])).join('; ')}`);
      const missed = (what: What) => delays.reduce((sum, each) => sum + late(each[what]), 0);
      const inMaps = (isWriter: boolean) =>
        found.flatMap(({ first, second }, at) => {
          const { writer, reader } = cases[at] ?? {};
          return (writer === reader) === isWriter ? [...first.viewport, ...second.viewport] : [];
        });
      const others = quantile(inMaps(false), 0.99);
      return {
        title: 'How soon a new marker is visible',
        rows: [
          {
            what: `first responses to \`marker(id)\` without the marker, of ${2 * maps}`,
            bar: 'none',
            measured: String(missed('marker')),
            against: `\`markersIn\`: ${missed('markersIn')}`,
            holds: missed('marker') === 0,
          },
          {
            what: 'first maps of the server that wrote it without the marker',
            bar: 'none',
            measured: String(late(inMaps(true))),
            against: `${inMaps(true).length} maps`,
            holds: late(inMaps(true)) === 0,
          },
          {
            what: 'until another server shows it on a map, p99',
            bar: `at most ${whole(MOST_MS)} ms`,
            measured: `${whole(others)} ms`,
            against: `p50 ${whole(quantile(inMaps(false), 0.5))} ms`,
            holds: others <= MOST_MS,
          },
        ],
        text: "DynamoDB Local's indexes do not lag.",
        details: [
          table([
            ['server queried', ...COLUMNS.map(([, title]) => title)],
            ...cases.map(({ title }, at) => [
              title,
              ...COLUMNS.map(([what]) => {
                const { first, second } = found[at] ?? { first: noDelays(), second: noDelays() };
                return [...new Set([figure(first[what]), figure(second[what])])].join('; ');
              }),
            ]),
          ]),
          '',
          'Milliseconds (p50/p99), for the first and the second marker created on a map that was requested before.',
        ].join('\n'),
        isDetail: true,
      };
    } finally {
      for (const { process } of servers) await process.stop();
      await engine.close();
    }
  },
};
