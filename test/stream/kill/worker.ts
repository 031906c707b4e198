/** A process that only maintains the cells, to be killed: `node worker.ts '<WorkerOptions as JSON>'`. */
import type { EngineAddress } from '../../../src/engine/start.js';
import { createLog } from '../../../src/log-output.js';
import { createDatabase } from '../../../src/store/create-database.js';
import type { Tables } from '../../../src/store/database.js';
import { Consumer } from '../../../src/stream/consume/consumer.js';
import { consumerParts } from '../../../src/stream/consume/derived-ports.js';
import { ownerIsGone } from '../../../src/stream/consume/owners.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';

export interface WorkerOptions {
  readonly engine: EngineAddress;
  readonly tables: Tables;
}

const { engine, tables } = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
const parts = consumerParts({ database, streams: createStreamsClient(engine) }, createLog('error'));
const consumer = new Consumer({
  ...parts,
  // Small pages, so that they split often.
  pages: { ...parts.pages, pack: { ...parts.pages.pack, mostBytes: 250 } },
  days: { ...parts.days, everyMs: 100 },
  ownerIsGone,
  // Small batches and frequent heartbeats, so that there are many moments at which to kill it.
  leaseMs: 2_000,
  pollMs: 20,
  limits: { records: 40, cells: 1_000 },
});
await consumer.run(new AbortController().signal);
