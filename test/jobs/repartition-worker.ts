/** A process that completes a change of a layout, to be killed: `node worker.ts '<WorkerOptions as JSON>'`. */
import { once } from 'node:events';

import { systemClock } from '../../src/clock.js';
import type { EngineAddress } from '../../src/engine/start.js';
import type { RepartitionProgress } from '../../src/jobs/layout-phase.js';
import { repartition } from '../../src/jobs/repartition.js';
import { silentLog } from '../../src/log.js';
import { findOccupied } from '../../src/server/consumer.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { createDatabase } from '../../src/store/create-database.js';
import { newCall, type Tables } from '../../src/store/database.js';
import { ownerIsGone, ownName } from '../../src/stream/consume/owners.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';

export interface WorkerOptions {
  readonly engine: EngineAddress;
  readonly tables: Tables;
  readonly key: string;
  readonly maxWcu: number;
}

/** What it tells its parent, which answers a `settle` once all clients have read the collection since. */
export type WorkerMessage = { readonly settle: true } | { readonly progress: RepartitionProgress };

const { engine, tables, key, maxWcu } = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
const backend = { database, streams: createStreamsClient(engine), log: silentLog };
const tell = (message: WorkerMessage) => process.send?.(message);
const options = {
  worker: { database, self: ownName(), ownerIsGone, clock: systemClock, leaseMs: 10_000 },
  async settle(signal: AbortSignal) {
    const settled = once(process, 'message', { signal });
    tell({ settle: true });
    await settled;
  },
  async occupied(...[collection, signal]: Parameters<Parameters<typeof repartition>[0]['occupied']>) {
    const prefixes = await findOccupied(backend, collection, signal);
    if (prefixes === undefined) throw new Error('the cells may be wrong');
    return prefixes;
  },
  maxWcu,
  onProgress: (progress: RepartitionProgress) => void tell({ progress }),
};
const [collection] = await getCollections(newCall(database), [key], { consistent: true });
if (!collection) throw new Error(`there is no collection ${key}`);
const seen = {};
const never = new AbortController().signal;
while (!(await repartition(options, collection, seen, never))) await systemClock.sleep(100);
database.client.destroy();
process.disconnect();
