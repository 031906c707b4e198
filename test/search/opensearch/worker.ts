/** A process that only maintains the index in OpenSearch, to be killed: `node worker.ts '<WorkerOptions as JSON>'`. */
import type { EngineAddress } from '../../../src/engine/start.js';
import { createLog } from '../../../src/log-output.js';
import { FleetSearch } from '../../../src/server/search.js';
import { createDatabase } from '../../../src/store/create-database.js';
import type { Tables } from '../../../src/store/database.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';

export interface WorkerOptions {
  readonly engine: EngineAddress;
  readonly tables: Tables;
  readonly url: string;
}

const { engine, tables, url } = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
const database = createDatabase({ ...engine, tables, keyStyle: 'readable' });
new FleetSearch(url, { database, streams: createStreamsClient(engine) }, createLog('silent')).start();
