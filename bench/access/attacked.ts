import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { storeRules } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { bearer, createKey } from '../../test/access/guarded-server.js';
import { settingsOf } from '../../test/support/engine-settings.js';
import { fillPlaces, LARGE, MARKERS, question } from '../http.js';
import { post } from '../http/load.js';
import { startMeasured, waitForOutput } from '../http/processes.js';
import { openFreshTables } from '../rig/fresh-tables.js';

const ATTACKERS = 8;
const ROUNDS = 5;
const ROUND_MS = 4_000;
const READ = [{ collections: ['*'], may: ['read'] }];
const RULES = {
  roles: {
    anonymous: { rules: READ, budget: { units: 5_000, per: 'minute' } },
    neighbor: { rules: READ, budget: { units: 1_000_000, per: 'minute' } },
  },
};
const SEARCH = '{ search(text: "place", first: 5000) { edges { node { ... on Marker { key properties } } } } }';
const WIDE = question('markers(collection: "places", first: 5000) { nodes { key properties } }', LARGE);

/** A document that nobody has sent before, and that is invalid at its end. */
const newDocument = (n: number) =>
  `{ ${Array.from({ length: 150 }, (_, at) => `a${n}x${at}: collection(key: "places") { name }`).join(' ')} unknown }`;

/** How long another client waits, in milliseconds, and what became of the attack. */
export interface Attacked {
  readonly quiet: readonly number[];
  readonly attacked: readonly number[];
  readonly statuses: ReadonlyMap<number, number>;
}

/** Clients without a name who ask for as much as they can, as often as they can, and one with a key beside them. */
export async function measureAttacked(): Promise<Attacked> {
  const { engine, database, close } = await openFreshTables({ table: 'bench-attacked' });
  await storeRules(newCall(database), JSON.stringify(RULES));
  const folder = await mkdtemp(join(tmpdir(), 'bench-attacked-'));
  const server = startMeasured(['--import', 'tsx', 'src/cli/main.ts', 'serve'], {
    ...settingsOf(engine),
    CELLPORT_ENGINE: 'aws',
    CELLPORT_TABLE: database.tables.entities,
    CELLPORT_AUTH: 'on',
    CELLPORT_SEARCH_MB: '64',
    CELLPORT_DATA_DIR: folder,
    PORT: '0',
  });
  const agent = new Agent({ keepAlive: true });
  const statuses = new Map<number, number>();
  const quiet: number[] = [];
  const attacked: number[] = [];
  let other: Worker | undefined;
  try {
    const [, url = ''] = await waitForOutput(server, /Serving\s+(http:\S+)/);
    await fillPlaces(database);
    const key = bearer(await createKey(database, { roles: ['neighbor'] }));
    const body = question(MARKERS, LARGE);
    const headers = { 'content-type': 'application/json', ...key };
    other = new Worker(new URL('victim.mjs', import.meta.url), {
      workerData: { url: `${url}/graphql`, headers, body },
    });
    const waits = async (): Promise<readonly number[]> => {
      other?.postMessage('waits');
      const [told] = (await once(other as Worker, 'message')) as [readonly number[]];
      return told;
    };
    await sleep(ROUND_MS);
    await waits();
    let until = 0;
    let sent = 0;
    const attack = async () => {
      while (performance.now() < until) {
        sent += 1;
        const query = [SEARCH, undefined, newDocument(sent)][sent % 3];
        const { status } = await post(agent, `${url}/graphql`, query === undefined ? WIDE : JSON.stringify({ query }));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(ROUND_MS);
      quiet.push(...(await waits()));
      until = performance.now() + ROUND_MS;
      await Promise.all(Array.from({ length: ATTACKERS }, attack));
      attacked.push(...(await waits()));
    }
    return { quiet, attacked, statuses };
  } finally {
    await other?.terminate();
    agent.destroy();
    await server.stop();
    await close();
    await rm(folder, { recursive: true, force: true });
  }
}
