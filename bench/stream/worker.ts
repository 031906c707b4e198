/** A process that updates the cells and reports progress to its parent: `node worker.ts '<WorkerOptions as JSON>'`. */
import type { EngineAddress } from '../../src/engine/start.js';
import { createDatabase } from '../../src/store/create-database.js';
import type { Tables } from '../../src/store/database.js';
import { consumerOf } from './keep-cells.js';

export interface WorkerOptions {
  readonly engine: EngineAddress;
  readonly tables: Tables;
}

/** Sent to the parent for each batch when all blocks include it. */
export interface Progress {
  readonly records: number;
  readonly batch: number;
  readonly blocksWritten: number;
}

const { engine, tables } = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
const stop = new AbortController();
process.once('disconnect', () => stop.abort());
const consumer = consumerOf(database, engine, () => {
  const { recordsFolded: records, batch, blocksWritten } = consumer.status();
  process.send?.({ records, batch, blocksWritten } satisfies Progress);
});
await consumer.run(stop.signal);
