import { onTestFinished } from 'vitest';

import { readConfig } from '../../../src/config.js';
import { silentLog, type Log } from '../../../src/log.js';
import { openServer } from '../../../src/server/open-server.js';
import type { Database } from '../../../src/store/database.js';
import { createStreamsClient } from '../../../src/stream/source/dynamodb.js';
import { postQuery } from '../../support/post-query.js';
import { engine, engineSettings } from '../../support/test-database.js';

export interface Answer {
  // Answers have any shape; the assertions of each test say what it expects.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
  readonly errors?: readonly { readonly message: string }[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly extensions?: any;
}

/** A server over a database, until the test ends; returns what asks it. */
export async function serve(database: Database, env: Record<string, string> = {}, log: Log = silentLog) {
  const streams = createStreamsClient(engine());
  const backend = {
    database,
    streams,
    where: '',
    storageFault: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
  const config = readConfig({}, { ...engineSettings(), PORT: '0', ...env });
  const server = openServer(config, backend, {}, log);
  const url = await server.listen();
  let open = true;
  const close = async () => {
    if (open) await server.close();
    open = false;
  };
  onTestFinished(async () => {
    await close();
    streams.destroy();
  });
  const ask = async (query: string, variables: object = {}) =>
    (await (await postQuery(url, query, { variables })).json()) as Answer;
  return { url, ask, close };
}
