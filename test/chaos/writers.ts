import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { chooser, idOf, TOLD, type Collection, type Run, type Told } from './clients.js';
import type { FleetServer } from './fleet-server.js';
import type { Operation } from './history.js';
import { positionOf } from './model.js';
import { ask, Failure, PASSING } from './request.js';

const MARKER = '$collection: String!, $key: String!, $position: PointInput!, $properties: JSONObject';
const GIVEN = 'key: $key, position: $position, properties: $properties';
const MUTATIONS = {
  create: `mutation (${MARKER}) { told: createMarker(input: { collection: $collection, ${GIVEN} }) { ${TOLD} } }`,
  update: `mutation ($id: ID!, $position: PointInput!, $properties: JSONObject, $expected: Int) { told: updateMarker(
    input: { id: $id, position: $position, properties: $properties, expectedVersion: $expected }) { ${TOLD} } }`,
  upsert: `mutation (${MARKER}) { done: upsertMarkers(collection: $collection, markers: [{ ${GIVEN} }]) {
    created updated failures { code message } } }`,
  delete: `mutation ($id: ID!) { told: deleteMarker(id: $id) { ${TOLD} } }`,
  remove: `mutation ($id: ID!) { done: deleteMarkers(ids: [$id]) { deleted failures { code message } } }`,
} as const;
type Mutation = keyof typeof MUTATIONS;
const MIX: readonly Mutation[] = [
  'create',
  'create',
  'update',
  'update',
  'update',
  'upsert',
  'delete',
  'delete',
  'remove',
];

interface Answer {
  readonly told?: Told;
  readonly done?: {
    readonly created?: number;
    readonly updated?: number;
    readonly failures: readonly { readonly code: string; readonly message: string }[];
  };
}

interface Wanted {
  readonly client: number;
  readonly server: FleetServer;
  readonly mutation: Mutation;
  readonly collection: Collection;
  readonly key: string;
  readonly value: number;
  readonly expected: number | undefined;
}

/** Writes to markers until it is stopped. */
export async function write(run: Run, client: number, seed: number): Promise<void> {
  const { pick, below, place } = chooser(run, seed);
  const versions = new Map<string, number>();
  for (let n = 1; !run.signal.aborted; n += 1) {
    const mutation = pick(MIX);
    const { slot, ...at } = place();
    const key = run.key(at.collection, slot, 1);
    const hopes = below(2) === 1 && mutation === 'update';
    const pauseMs = 10 + below(60);
    const expected = hopes ? versions.get(key) : undefined;
    const version = await writeOnce(run, { ...at, client, mutation, key, value: client * 1_000_000 + n, expected });
    if (version !== undefined) versions.set(key, version);
    await sleep(pauseMs);
  }
}

/** The result of a mutation, and what it was told. Rejects with a `Failure` unless that says what has happened. */
async function send(url: string, { mutation, collection, key, value, expected }: Wanted) {
  const id = idOf(collection, key);
  const variables = { collection, key, id, expected, position: positionOf(value), properties: { v: value } };
  const { told, done } = await ask<Answer>(url, MUTATIONS[mutation], variables);
  const [failure] = done?.failures ?? [];
  if (failure) throw new Failure(failure.code, failure.message);
  if (told) return { result: 'ok', value: told.properties.v, version: told.version } as const;
  return { result: done?.created === 1 ? 'created' : done?.updated === 1 ? 'updated' : 'done' } as const;
}

/** Sends one mutation and notes what it was told; returns the version of the marker, if it was told that. */
async function writeOnce(run: Run, wanted: Wanted): Promise<number | undefined> {
  const { client, server, mutation, collection, key, expected } = wanted;
  const kind = mutation === 'remove' ? 'delete' : mutation;
  const { url, run: by } = server;
  if (url === undefined) return undefined;
  const model = run.models[collection];
  const asked = performance.now();
  const value = kind === 'delete' ? undefined : wanted.value;
  const write = model.begin(key, { value, asked, returned: Infinity, by: '' });
  const note = (result: Operation['result'], told: object = {}) => {
    run.count(`${kind}: ${result}`);
    run.note(collection, key, asked, { kind, result, client, expected, value, ...told });
  };
  try {
    const { result, ...told } = await send(url, wanted);
    note(result, told);
    Object.assign(write, { returned: performance.now(), by });
    return told.version;
  } catch (error) {
    const { code, details } = error as Failure;
    const version = details['version'] as number | undefined;
    if (code === 'NOT_FOUND' || code === 'CONFLICT' || code === 'NEVER_SENT') {
      model.refused(key, write);
      // An update that others have outrun too often says nothing about the marker.
      if (code !== 'NEVER_SENT' && (code !== 'CONFLICT' || kind === 'create' || version !== undefined)) note(code);
      return version;
    }
    note('unknown');
    if (!PASSING.includes(code)) run.fail(`${kind} of ${key} failed: ${String(error)}`);
    return undefined;
  }
}
