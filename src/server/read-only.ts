import type { Config } from '../config.js';
import type { Log } from '../log.js';
import { openAnswering, openBuckets } from './answering.js';
import type { Backend } from './backend.js';
import { storedReport } from './consumer.js';
import { findIndex } from './find.js';

/**
 * Opens what answers requests in a process that changes nothing and follows no stream, with the rules and limits of a
 * server. Text is searched in the index of one.
 */
export async function openReadOnly(given: Config, backend: Backend, log: Log) {
  const config: Config = { ...given, readOnly: true, trustedDocuments: false };
  const find = () => findIndex(config, backend).catch((error: Error) => error);
  let index = await find();
  const search = {
    status: { state: 'following', read: 0, reason: null } as const,
    open() {
      if (!(index instanceof Error)) return index.reader;
      // A server may have started since: the next search finds its index.
      void find().then((found) => (index = found));
      throw index;
    },
    hasRead: (scope: string) => !(index instanceof Error) && index.sources.has(scope),
  };
  const upkeep = { storedReport: () => storedReport(backend.database), search };
  const answering = openAnswering(config, backend, () => openBuckets(config, backend, log), upkeep, log);
  const { graphql } = await answering.open({});
  async function close(): Promise<void> {
    await answering.close();
    if (!(index instanceof Error)) await index.close();
  }
  return { graphql, close };
}
