import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { randomFrom } from '../support/random.js';
import type { Fleet, FleetServer } from './fleet.js';
import type { Operation } from './history.js';
import { BOXES, isIn, Model, positionOf, WORLD, type Write } from './model.js';
import { ask, Failure } from './request.js';

/** The first is in the geographic index, the second is not: its maps are as current as the stream's consumer. */
export const COLLECTIONS = ['indexed', 'pages'] as const;
export type Collection = (typeof COLLECTIONS)[number];
/** Markers of each collection that never change. */
export const STEADY = 120;
const SLOTS = 4;
/** Operations on a marker before another takes its place, so that histories stay short enough to be decided. */
const OPERATIONS_OF_KEY = 60;
const SHOWS_WITHIN_MS = 2_000;
/** Dates of answers are whole seconds. */
const CLOCK_TOLERANCE_MS = 1_000;

export const idOf = (collection: string, key: string) => `marker::${collection}::${key}`;
export const steadyKey = (n: number) => `steady-${n}`;
export const steadyMarkers = () =>
  Array.from({ length: STEADY }, (_, n) => ({ key: steadyKey(n), position: positionOf(n), properties: { v: n } }));

/** What clients share. */
export class Run {
  readonly history: Operation[] = [];
  readonly models: Readonly<Record<Collection, Model>> = { indexed: new Model(), pages: new Model() };
  readonly operations: Record<string, number> = {};
  /** What no fault excuses. */
  readonly wrong: string[] = [];
  readonly lags: Record<string, number[]> = {};
  readonly #turns = new Map<string, number>();

  readonly fleet: Fleet;
  readonly signal: AbortSignal;

  constructor(fleet: Fleet, signal: AbortSignal) {
    this.fleet = fleet;
    this.signal = signal;
  }

  count(what: string): void {
    this.operations[what] = (this.operations[what] ?? 0) + 1;
  }

  lag(of: string, ms: number): void {
    (this.lags[of] ??= []).push(ms);
  }

  /** The key that is in a slot now. */
  key(collection: Collection, slot: number, uses = false): string {
    const name = `${collection} ${slot}`;
    const turn = (this.#turns.get(name) ?? 0) + (uses ? 1 : 0);
    this.#turns.set(name, turn);
    return `k${slot}-${Math.floor(turn / OPERATIONS_OF_KEY)}`;
  }
}

interface Told {
  readonly version: number;
  readonly properties: { readonly v: number };
}

const TOLD = 'version properties';
const MUTATIONS = {
  create: `mutation ($collection: String!, $key: String!, $position: PointInput!, $properties: JSONObject) {
    told: createMarker(input: { collection: $collection, key: $key, position: $position, properties: $properties }) { ${TOLD} } }`,
  update: `mutation ($id: ID!, $position: PointInput!, $properties: JSONObject, $expected: Int) {
    told: updateMarker(input: { id: $id, position: $position, properties: $properties, expectedVersion: $expected }) { ${TOLD} } }`,
  upsert: `mutation ($collection: String!, $key: String!, $position: PointInput!, $properties: JSONObject) {
    done: upsertMarkers(collection: $collection, markers: [{ key: $key, position: $position, properties: $properties }]) {
      created updated failures { code message } } }`,
  delete: `mutation ($id: ID!) { told: deleteMarker(id: $id) { ${TOLD} } }`,
  remove: `mutation ($id: ID!) { done: deleteMarkers(ids: [$id]) { deleted failures { code message } } }`,
} as const;
interface Answer {
  readonly told?: Told;
  readonly done?: {
    readonly created?: number;
    readonly updated?: number;
    readonly failures: readonly { readonly code: string; readonly message: string }[];
  };
}

const microseconds = (ms: number) => Math.round(ms * 1_000);
/** Answers that say for sure that nothing was written. */
const REFUSALS = ['CONFLICT', 'NOT_FOUND'];
const SURE: Readonly<Record<string, readonly string[]>> = {
  create: ['CONFLICT'],
  update: REFUSALS,
  delete: ['NOT_FOUND'],
};

/** Writes to markers until it is stopped: the next operation follows from the seed alone. */
export async function write(run: Run, client: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const versions = new Map<string, number>();
  for (let n = 1; !run.signal.aborted; n += 1) {
    const chance = random();
    const mutation =
      chance < 0.3
        ? 'create'
        : chance < 0.65
          ? 'update'
          : chance < 0.8
            ? 'upsert'
            : chance < 0.95
              ? 'delete'
              : 'remove';
    const collection = pick(COLLECTIONS);
    const slot = Math.floor(random() * SLOTS);
    const server = pick(run.fleet.servers);
    const hopes = random() < 0.5;
    const pauseMs = 10 + random() * 60;
    const key = run.key(collection, slot, true);
    const value = client * 1_000_000 + n;
    const expected = hopes && mutation === 'update' ? versions.get(key) : undefined;
    const version = await writeOnce(run, { client, server, mutation, collection, key, value, expected });
    if (version !== undefined) versions.set(key, version);
    await sleep(pauseMs);
  }
}

interface Wanted {
  readonly client: number;
  readonly server: FleetServer;
  readonly mutation: keyof typeof MUTATIONS;
  readonly collection: Collection;
  readonly key: string;
  readonly value: number;
  readonly expected: number | undefined;
}

/** Sends one mutation and notes what it was told; returns the version of the marker, if it was told that. */
async function writeOnce(run: Run, wanted: Wanted): Promise<number | undefined> {
  const { client, server, mutation, collection, key, value, expected } = wanted;
  const kind = mutation === 'remove' ? 'delete' : mutation;
  const { url, run: by } = server;
  if (url === undefined) return undefined;
  const model = run.models[collection];
  const asked = performance.now();
  const write: Write = { value: kind === 'delete' ? undefined : value, asked, returned: Infinity, by: '' };
  model.begin(key, write);
  const note = (result: Operation['result'], told: Partial<Pick<Operation, 'value' | 'version'>> = {}) => {
    const returned = performance.now();
    run.count(`${kind}: ${result === 'created' || result === 'updated' || result === 'done' ? 'ok' : result}`);
    const base = { key: `${collection}/${key}`, kind, result, client, expected, value: write.value, ...told };
    run.history.push({
      ...base,
      call: microseconds(asked),
      return: result === 'unknown' ? -1 : microseconds(returned),
    });
    if (result === 'unknown') return;
    if (result === 'CONFLICT' || result === 'NOT_FOUND') model.refused(key, write);
    else Object.assign(write, { returned, by });
  };
  try {
    const id = idOf(collection, key);
    const variables = { collection, key, id, expected, position: positionOf(value), properties: { v: value } };
    const { told, done } = await ask<Answer>(url, MUTATIONS[mutation], variables);
    const [failure] = done?.failures ?? [];
    if (failure) throw new Failure(failure.code, failure.message);
    if (told) {
      if (kind !== 'delete' && told.properties.v !== value)
        run.wrong.push(`${kind} of ${value} was told ${told.properties.v}`);
      note('ok', { value: told.properties.v, version: told.version });
      return kind === 'delete' ? undefined : told.version;
    }
    note(done?.created === 1 ? 'created' : done?.updated === 1 ? 'updated' : 'done');
  } catch (error) {
    const { code, details } = error as Failure;
    const isSure =
      (SURE[mutation] ?? []).includes(code) &&
      !(code === 'CONFLICT' && kind === 'update' && details['version'] === undefined);
    if (isSure) note(code as 'CONFLICT');
    else if (code === 'NEVER_SENT' || code === 'CONFLICT') {
      model.refused(key, write);
      run.count(`${kind}: ${code === 'CONFLICT' ? 'too many concurrent' : 'server down'}`);
    } else note('unknown');
    if (!['NEVER_SENT', 'BROKEN', 'UNAVAILABLE', 'THROTTLED', 'CONFLICT', 'NOT_FOUND'].includes(code))
      run.wrong.push(`${kind} of ${key} failed with ${code}: ${String(error)}`);
    return code === 'CONFLICT' ? (details['version'] as number | undefined) : undefined;
  }
  return undefined;
}

const READ = `query ($id: ID!) { marker(id: $id) { ${TOLD} } }`;
const AS_OF = 'query ($collection: String!) { collection(key: $collection) { asOf } }';
const MAP = `query ($collection: String!, $bounds: BoundsInput!, $after: String) { viewport(bounds: $bounds, zoom: 4) {
  markers(collection: $collection, first: 5000, after: $after) {
    nodes { key properties } pageInfo { hasNextPage endCursor } } } }`;
const COUNTS = `query ($collection: String!, $bounds: BoundsInput!) {
  collection(key: $collection) { countsExact }
  viewport(bounds: $bounds, zoom: 4) { count(collection: $collection) } }`;
const CLUSTERS = `query ($collection: String!, $bounds: BoundsInput!) {
  collection(key: $collection) { countsExact }
  viewport(bounds: $bounds, zoom: 4) { clusters(collection: $collection) { count } } }`;

export interface MarkerPage {
  readonly viewport: {
    readonly markers: {
      readonly nodes: readonly { readonly key: string; readonly properties: { readonly v: number } }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  };
}

/** The markers of a box by key; fails if one comes twice. */
export async function readBox(url: string, collection: Collection, box: number): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let after: string | null = null; ;) {
    const page: MarkerPage = await ask<MarkerPage>(url, MAP, { collection, bounds: BOXES[box], after });
    for (const { key, properties } of page.viewport.markers.nodes) {
      // A page that follows is another moment.
      if (found.has(key) && after === null) throw new Failure('TWICE', `${key} is twice in one page`);
      found.set(key, properties.v);
    }
    const { hasNextPage, endCursor }: MarkerPage['viewport']['markers']['pageInfo'] = page.viewport.markers.pageInfo;
    if (!hasNextPage) return found;
    after = endCursor;
  }
}

/** Reads markers and maps until it is stopped, and compares each answer with what it may be. */
export async function read(run: Run, client: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  while (!run.signal.aborted) {
    const question = pick([readMarker, readMarker, readMarker, readMap, readCounts, readClusters]);
    const server = pick(run.fleet.servers);
    const collection = pick(COLLECTIONS);
    const at = { slot: Math.floor(random() * SLOTS), box: Math.floor(random() * BOXES.length) };
    const pauseMs = 10 + random() * 40;
    if (server.url !== undefined) {
      try {
        await question(run, { client, server, url: server.url, collection, ...at });
      } catch (error) {
        const { code } = error as Failure;
        run.count(`reads: ${code}`);
        if (!['NEVER_SENT', 'BROKEN', 'UNAVAILABLE', 'THROTTLED'].includes(code))
          run.wrong.push(`a read failed: ${String(error)}`);
      }
    }
    await sleep(pauseMs);
  }
}

interface Question {
  readonly client: number;
  readonly server: FleetServer;
  readonly url: string;
  readonly collection: Collection;
  readonly slot: number;
  readonly box: number;
}

async function readMarker(run: Run, { client, url, collection, slot }: Question): Promise<void> {
  const key = run.key(collection, slot);
  const asked = performance.now();
  const { marker } = await ask<{ marker: Told | null }>(url, READ, { id: idOf(collection, key) });
  noteRead(run, client, { collection, key, asked, marker });
}

/** Notes a strong read. */
export function noteRead(
  run: Run,
  client: number,
  { collection, key, asked, marker }: { collection: Collection; key: string; asked: number; marker: Told | null },
): void {
  run.count('read: ok');
  const told = marker === null ? {} : { value: marker.properties.v, version: marker.version };
  const times = { call: microseconds(asked), return: microseconds(performance.now()) };
  run.history.push({ key: `${collection}/${key}`, kind: 'read', result: 'ok', client, ...told, ...times });
  const { ms } = run.models[collection].lag(key, asked, '', (value) => value === told.value);
  if (ms > 0)
    run.wrong.push(`marker ${key} of ${collection} was read as ${told.value}, replaced ${Math.round(ms)} ms before`);
}

async function readMap(run: Run, { server, url, collection, box }: Question): Promise<void> {
  const { run: by } = server;
  const { asOf } = (await ask<{ collection: { asOf: string | null } }>(url, AS_OF, { collection })).collection;
  const wallAhead = Date.now() - performance.now();
  const completeTo = asOf === null ? -Infinity : Date.parse(asOf) - wallAhead - CLOCK_TOLERANCE_MS;
  const asked = performance.now();
  const found = await readBox(url, collection, box);
  const model = run.models[collection];
  run.count('markers: ok');
  let worst = 0;
  const about = `the ${collection} map of box ${box} from ${by}`;
  for (const key of new Set([...model.keys, ...found.keys()])) {
    if (key.startsWith('steady')) continue;
    const told = found.get(key);
    const lag = model.lag(key, asked, by, (value) => (told === undefined ? !isIn(box, value) : value === told));
    worst = Math.max(worst, lag.ms);
    const what = `${about} has ${key} as ${told}, replaced ${Math.round(lag.ms)} ms before`;
    if (lag.ms === Infinity) run.wrong.push(what);
    else if (collection === 'indexed' && lag.ms > SHOWS_WITHIN_MS) run.wrong.push(`stale: ${what}`);
    else if (asked - lag.ms < completeTo) run.wrong.push(`stale: ${what}, although it said ${asOf}`);
    else if (lag.missesOwn) run.wrong.push(`stale: ${what}, which it had acknowledged itself`);
  }
  for (let n = 0; n < STEADY; n += 1)
    if (isIn(box, n) !== (found.get(steadyKey(n)) === n)) run.wrong.push(`${about} lacks ${steadyKey(n)}`);
  run.lag(`${collection} markers`, worst);
}

const steadyIn = (box: number) => Array.from({ length: STEADY }, (_, n) => n).filter((n) => isIn(box, n)).length;

interface Counted {
  readonly collection: { readonly countsExact: boolean };
  readonly viewport: { readonly count?: number; readonly clusters?: readonly { readonly count: number }[] };
}

async function readCounts(run: Run, { server: { run: by }, url, collection, box }: Question): Promise<void> {
  const asked = performance.now();
  const answer = await ask<Counted>(url, COUNTS, { collection, bounds: BOXES[box] });
  checkCount(run, { kind: 'count', by, collection, box, asked }, answer, answer.viewport.count ?? -1);
}

async function readClusters(run: Run, { server: { run: by }, url, collection }: Question): Promise<void> {
  const asked = performance.now();
  const answer = await ask<Counted>(url, CLUSTERS, { collection, bounds: BOXES[WORLD] });
  const count = (answer.viewport.clusters ?? []).reduce((sum, one) => sum + one.count, 0);
  checkCount(run, { kind: 'clusters', by, collection, box: WORLD, asked }, answer, count);
}

interface CountQuestion {
  readonly kind: string;
  readonly by: string;
  readonly collection: Collection;
  readonly box: number;
  readonly asked: number;
}

function checkCount(
  run: Run,
  { kind, by, collection, box, asked }: CountQuestion,
  { collection: { countsExact } }: Counted,
  count: number,
): void {
  run.count(`${kind}: ok`);
  const lag = run.models[collection].lagOfCount(box, asked, count, steadyIn(box));
  if (lag === Infinity && countsExact)
    run.wrong.push(`${kind} of ${collection} in box ${box} from ${by} is ${count}, which it never was`);
  else if (lag < Infinity) run.lag(`${collection} ${kind}`, lag);
}
