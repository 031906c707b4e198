import { readConfig } from '../../src/config.js';
import { silentLog } from '../../src/log.js';
import { openServer } from '../../src/server/open-server.js';
import type { Database } from '../../src/store/database.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engine, engineSettings } from '../support/test-database.js';

/** A server with its consumer, over this file's engine, with some variables of the environment. */
export async function startWhole(database: Database, variables: Readonly<Record<string, string>>) {
  const streams = createStreamsClient(engine());
  const storageFault = () => Promise.resolve(undefined);
  const backend = { database, streams, where: '', storageFault, close: () => Promise.resolve() };
  const config = readConfig({}, { ...engineSettings(), PORT: '0', ...variables });
  const opened = openServer(config, backend, {}, silentLog);
  const url = await opened.listen();
  const close = async () => {
    await opened.close();
    streams.destroy();
  };
  return { url, derived: opened.derived, close };
}
