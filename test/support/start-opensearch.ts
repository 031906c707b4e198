import type { TestProject } from 'vitest/node';

import { HAS_OPENSEARCH, OpenSearchServer } from '../services/opensearch-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the test run's OpenSearch, which may still be starting; undefined if none is installed. */
    opensearch: string | undefined;
  }
}

/**
 * One OpenSearch for all tests of a run. Tests wait for it only when they need it, so that others run while it starts.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = HAS_OPENSEARCH ? await OpenSearchServer.create() : undefined;
  project.provide('opensearch', server?.folder);
  const started = server?.start().catch((error: unknown) => console.error(error));
  return async () => {
    await started;
    await server?.close();
  };
}
