import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { COLLECTIONS, idOf, noteRead, readBox, STEADY, steadyKey, type Collection, type Run } from './clients.js';
import { BOXES, isIn, WORLD } from './model.js';
import type { Replica } from './replica.js';
import { ask } from './request.js';

const SETTLES_WITHIN_MS = 120_000;
const IDS_AT_A_TIME = 500;
const READ_ALL = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Marker { version properties } } }';
const SUMS = `query ($collection: String!, $bounds: BoundsInput!) {
  collection(key: $collection) { count countsExact }
  viewport(bounds: $bounds, zoom: 4) { count(collection: $collection)
    clusters(collection: $collection) { count geohashes position { lng lat } } } }`;

interface Sums {
  readonly collection: { readonly count: number; readonly countsExact: boolean };
  readonly viewport: { readonly count: number; readonly clusters: readonly { readonly count: number }[] };
}

/** Every marker by a strong read, as the history has it, too. */
async function truth(run: Run, url: string, collection: Collection): Promise<ReadonlyMap<string, number>> {
  const keys = run.models[collection].keys;
  const found = new Map(Array.from({ length: STEADY }, (_, n) => [steadyKey(n), n]));
  for (let first = 0; first < keys.length; first += IDS_AT_A_TIME) {
    const some = keys.slice(first, first + IDS_AT_A_TIME);
    const asked = performance.now();
    type Told = { readonly version: number; readonly properties: { readonly v: number } } | null;
    const ids = some.map((key) => idOf(collection, key));
    const { nodes } = await ask<{ readonly nodes: readonly Told[] }>(url, READ_ALL, { ids });
    for (const [index, key] of some.entries()) {
      const marker = nodes[index] ?? null;
      noteRead(run, 0, { collection, key, asked, marker });
      if (marker !== null) found.set(key, marker.properties.v);
    }
  }
  return found;
}

/** The first difference between two sets of markers; undefined if they are equal. */
function difference(what: string, found: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): string[] {
  const keys = [...new Set([...found.keys(), ...right.keys()])].filter((key) => found.get(key) !== right.get(key));
  const shown = keys.slice(0, 3).map((key) => `${key}: ${found.get(key)} instead of ${right.get(key)}`);
  return keys.length === 0 ? [] : [`${what}: ${keys.length} markers differ, ${shown.join(', ')}`];
}

/** What one server answers about a collection that differs from what is so. */
async function differences(url: string, collection: Collection, right: ReadonlyMap<string, number>): Promise<string[]> {
  const wrong: string[] = [];
  for (const [box, bounds] of BOXES.entries()) {
    const inside = new Map([...right].filter(([, value]) => isIn(box, value)));
    wrong.push(...difference(`map of box ${box}`, await readBox(url, collection, box), inside));
    const { collection: whole, viewport } = await ask<Sums>(url, SUMS, { collection, bounds });
    if (!whole.countsExact) wrong.push('counts are not exact');
    if (whole.count !== right.size) wrong.push(`the collection counts ${whole.count} instead of ${right.size}`);
    if (viewport.count !== inside.size) wrong.push(`box ${box} counts ${viewport.count} instead of ${inside.size}`);
    const clustered = viewport.clusters.reduce((sum, { count }) => sum + count, 0);
    if (box === WORLD && clustered !== right.size) wrong.push(`clusters have ${clustered} instead of ${right.size}`);
  }
  return wrong;
}

/** Once faults have ended and clients rest: everything that differs from what strong reads say, and does not settle. */
export async function settle(run: Run, replicas: readonly Replica[]): Promise<{ wrong: string[]; tookMs: number }> {
  const began = performance.now();
  for (;;) {
    const wrong: string[] = [];
    try {
      for (const collection of COLLECTIONS) {
        const right = await truth(run, run.fleet.servers[0]?.url ?? '', collection);
        const clusters = new Set<string>();
        for (const { url = '', name } of run.fleet.servers) {
          wrong.push(...(await differences(url, collection, right)).map((one) => `${name}, ${collection}: ${one}`));
          clusters.add(JSON.stringify(await ask<Sums>(url, SUMS, { collection, bounds: BOXES[WORLD] })));
        }
        if (clusters.size > 1) wrong.push(`servers have different clusters of ${collection}`);
        for (const { values, server, collection: followed } of replicas)
          if (followed === collection)
            wrong.push(...difference(`replica at ${server.name}, ${collection}`, values, right));
      }
    } catch (error) {
      wrong.push(String(error));
    }
    const tookMs = performance.now() - began;
    if (wrong.length === 0 || tookMs > SETTLES_WITHIN_MS) return { wrong, tookMs };
    await sleep(1_000);
  }
}
