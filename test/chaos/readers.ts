import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { chooser, idOf, STEADY, steadyKey, TOLD, type Collection, type Run, type Told } from './clients.js';
import { BOXES, isIn, WORLD } from './model.js';
import { ask, Failure, PASSING } from './request.js';

/** The state says that pages were current at most two seconds before it was read, and is read each second. */
const SHOWS_WITHIN_MS = 3_000;
/** Dates of answers, by which servers set their clocks, are whole seconds. */
const CLOCK_TOLERANCE_MS = 1_000;

const READ = `query ($id: ID!) { marker(id: $id) { ${TOLD} } }`;
const AS_OF = 'query ($collection: String!) { collection(key: $collection) { asOf } }';
const MAP = `query ($collection: String!, $bounds: BoundsInput!, $after: String) { viewport(bounds: $bounds, zoom: 4) {
  markers(collection: $collection, first: 5000, after: $after) {
    nodes { key properties } pageInfo { hasNextPage endCursor } } } }`;
const SUMS = `query ($collection: String!, $bounds: BoundsInput!) {
  collection(key: $collection) { count countsExact }
  viewport(bounds: $bounds, zoom: 4) { count(collection: $collection)
    clusters(collection: $collection) { count geohashes position { lng lat } } } }`;

interface MarkerPage {
  readonly nodes: readonly { readonly key: string; readonly properties: { readonly v: number } }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface MapAnswer {
  readonly viewport: { readonly markers: MarkerPage };
}

interface Sums {
  readonly collection: { readonly count: number; readonly countsExact: boolean };
  readonly viewport: { readonly count: number; readonly clusters: readonly { readonly count: number }[] };
}

/** The markers of a box by key; fails if one page has one of them twice. */
export async function readBox(url: string, collection: Collection, box: number): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let after: string | null = null; ;) {
    const answer: MapAnswer = await ask<MapAnswer>(url, MAP, { collection, bounds: BOXES[box], after });
    const { nodes, pageInfo }: MarkerPage = answer.viewport.markers;
    if (new Set(nodes.map(({ key }) => key)).size < nodes.length)
      throw new Failure('TWICE', 'a page has a marker twice');
    for (const { key, properties } of nodes) found.set(key, properties.v);
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

/** The counts of a box, and its clusters. */
export async function readSums(url: string, collection: Collection, box: number) {
  const { collection: whole, viewport } = await ask<Sums>(url, SUMS, { collection, bounds: BOXES[box] });
  const clustered = viewport.clusters.reduce((sum, { count }) => sum + count, 0);
  return { ...whole, inside: viewport.count, clustered, clusters: viewport.clusters };
}

interface Question {
  readonly run: Run;
  readonly client: number;
  readonly by: string;
  readonly url: string;
  readonly collection: Collection;
  readonly slot: number;
  readonly box: number;
}

async function askMarker({ run, client, url, collection, slot }: Question): Promise<void> {
  const key = run.key(collection, slot);
  const asked = performance.now();
  const { marker } = await ask<{ marker: Told | null }>(url, READ, { id: idOf(collection, key) });
  run.noteRead(collection, key, asked, client, marker);
}

async function askMap({ run, by, url, collection, box }: Question): Promise<void> {
  const { asOf } = (await ask<{ collection: { asOf: string | null } }>(url, AS_OF, { collection })).collection;
  const monotonic = Date.now() - performance.now();
  const completeTo = asOf === null ? -Infinity : Date.parse(asOf) - monotonic - CLOCK_TOLERANCE_MS;
  const asked = performance.now();
  const found = await readBox(url, collection, box);
  const model = run.models[collection];
  run.count('markers: ok');
  const about = `the ${collection} map of box ${box} from ${by}`;
  const lags = [...new Set([...model.keys, ...found.keys()])].map((key) => {
    if (key.startsWith('steady')) return 0;
    const told = found.get(key);
    const lag = model.lag(key, asked, by, (value) => (told === undefined ? !isIn(box, value) : value === told));
    const what = `${about} has ${key} as ${told}, replaced ${Math.round(lag.ms)} ms before`;
    if (lag.ms === Infinity) run.fail(what);
    else if (collection === 'indexed' && lag.ms > SHOWS_WITHIN_MS) run.fail(`stale: ${what}`);
    else if (asked - lag.ms < completeTo) run.fail(`stale: ${what}, although it said ${asOf}`);
    else if (lag.missesOwn) run.fail(`stale: ${what}, which it had acknowledged itself`);
    return lag.ms;
  });
  run.lag(`${collection} markers`, Math.max(0, ...lags));
  for (let n = 0; n < STEADY; n += 1)
    if (isIn(box, n) !== (found.get(steadyKey(n)) === n)) run.fail(`${about} lacks ${steadyKey(n)}`);
}

async function askSums({ run, by, url, collection, box }: Question): Promise<void> {
  const asked = performance.now();
  const { countsExact, count, inside, clustered } = await readSums(url, collection, box);
  const check = (what: string, where: number, told: number) => {
    const steady = Array.from({ length: STEADY }, (_, n) => n).filter((n) => isIn(where, n)).length;
    const lag = run.models[collection].lagOfCount(where, asked, told - steady);
    if (lag < Infinity) run.lag(`${collection} ${what}`, lag);
    else if (countsExact)
      run.fail(`${what} of ${collection} in box ${where} from ${by} is ${told}, which it never was`);
    run.count(`${what}: ok`);
  };
  check('count', box, inside);
  check('collection count', WORLD, count);
  if (box === WORLD) check('clusters', WORLD, clustered);
}

const QUESTIONS = [askMarker, askMarker, askMarker, askMap, askSums] as const;

/** Reads markers and maps until it is stopped, and compares each answer with what it may be. */
export async function read(run: Run, client: number, seed: number): Promise<void> {
  const { pick, below, place } = chooser(run, seed);
  while (!run.signal.aborted) {
    const question = pick(QUESTIONS);
    const { server, ...at } = place();
    const box = below(BOXES.length);
    const pauseMs = 10 + below(40);
    const { url, run: by } = server;
    if (url !== undefined)
      await question({ run, client, url, by, box, ...at }).catch((error: unknown) => {
        const { code } = error as Failure;
        run.count(`reads: ${code}`);
        if (!PASSING.includes(code)) run.fail(`a read failed: ${String(error)}`);
      });
    await sleep(pauseMs);
  }
}
