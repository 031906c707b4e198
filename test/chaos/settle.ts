import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { COLLECTIONS, idOf, STEADY, steadyKey, TOLD, type Collection, type Run, type Told } from './clients.js';
import { BOXES, isIn, WORLD } from './model.js';
import { readBox, readSums } from './readers.js';
import type { Replica } from './replica.js';
import { ask } from './request.js';

const SETTLES_WITHIN_MS = 120_000;
const IDS_AT_A_TIME = 500;
const READ_ALL = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Marker { ${TOLD} } } }`;

/** Every marker by a strong read, as the history has it, too. */
async function truth(run: Run, url: string, collection: Collection): Promise<ReadonlyMap<string, number>> {
  const { keys } = run.models[collection];
  const found = new Map(Array.from({ length: STEADY }, (_, n) => [steadyKey(n), n]));
  for (let first = 0; first < keys.length; first += IDS_AT_A_TIME) {
    const some = keys.slice(first, first + IDS_AT_A_TIME);
    const asked = performance.now();
    const ids = some.map((key) => idOf(collection, key));
    const { nodes } = await ask<{ readonly nodes: readonly (Told | null)[] }>(url, READ_ALL, { ids });
    for (const [index, key] of some.entries()) {
      const marker = nodes[index] ?? null;
      run.noteRead(collection, key, asked, 0, marker);
      if (marker !== null) found.set(key, marker.properties.v);
    }
  }
  return found;
}

/** How a set of markers differs from another. */
function difference(
  what: string,
  found: ReadonlyMap<string, number>,
  right: ReadonlyMap<string, number>,
  told: (key: string) => string = () => '',
): string[] {
  const keys = [...new Set([...found.keys(), ...right.keys()])].filter((key) => found.get(key) !== right.get(key));
  const shown = keys.slice(0, 3).map((key) => `${key}: ${found.get(key)} instead of ${right.get(key)} ${told(key)}`);
  return keys.length === 0 ? [] : [`${what}: ${keys.length} markers differ, ${shown.join(', ')}`];
}

/** What one server answers about a collection that differs from what is so, and its clusters of the world. */
async function differences(url: string, collection: Collection, right: ReadonlyMap<string, number>) {
  const wrong: string[] = [];
  let clusters = '';
  for (const box of BOXES.keys()) {
    const there = new Map([...right].filter(([, value]) => isIn(box, value)));
    wrong.push(...difference(`map of box ${box}`, await readBox(url, collection, box), there));
    const sums = await readSums(url, collection, box);
    if (!sums.countsExact) wrong.push('counts are not exact');
    if (sums.count !== right.size) wrong.push(`the collection counts ${sums.count} instead of ${right.size}`);
    if (sums.inside !== there.size) wrong.push(`box ${box} counts ${sums.inside} instead of ${there.size}`);
    if (box !== WORLD) continue;
    clusters = JSON.stringify(sums.clusters);
    if (sums.clustered !== right.size) wrong.push(`clusters have ${sums.clustered} instead of ${right.size}`);
  }
  return { wrong, clusters };
}

/** Once faults have ended and clients rest: everything that differs from what strong reads say, and does not settle. */
export async function settle(run: Run, replicas: readonly Replica[]): Promise<{ wrong: string[]; tookMs: number }> {
  const { servers } = run.fleet;
  const began = performance.now();
  for (;;) {
    const wrong: string[] = [];
    try {
      for (const collection of COLLECTIONS) {
        const right = await truth(run, servers[0]?.url ?? '', collection);
        const clusters = new Set<string>();
        for (const { url = '', name } of servers) {
          const found = await differences(url, collection, right);
          clusters.add(found.clusters);
          wrong.push(...found.wrong.map((one) => `${name}, ${collection}: ${one}`));
        }
        if (clusters.size > 1) wrong.push(`servers have different clusters of ${collection}`);
        for (const replica of replicas.filter((each) => each.collection === collection)) {
          const what = `replica at ${replica.server.name}, ${collection}`;
          wrong.push(...difference(what, replica.values, right, (key) => replica.told(key)));
        }
      }
    } catch (error) {
      wrong.push(String(error));
    }
    const tookMs = performance.now() - began;
    if (wrong.length === 0 || tookMs > SETTLES_WITHIN_MS) return { wrong, tookMs };
    await sleep(1_000);
  }
}
