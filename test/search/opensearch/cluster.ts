import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

import { systemClock } from '../../../src/clock.js';
import type { SearchEngine } from '../../../src/search/engine.js';
import { openClient, type Client } from '../../../src/search/opensearch/client.js';
import { indexNames } from '../../../src/search/opensearch/indexes.js';
import {
  openSearchEngine,
  type EngineOptions,
  type IndexState,
  type IndexStateStore,
} from '../../../src/search/opensearch/opensearch-engine.js';

/** The URL of the run's OpenSearch, once it answers. */
export async function clusterUrl(): Promise<string> {
  const folder = inject('opensearch');
  if (folder === undefined) throw new Error('this test needs OpenSearch: skip it where there is none');
  for (;;) {
    const port = await readFile(join(folder, 'http.port'), 'utf8').catch(() => undefined);
    if (port !== undefined) return `http://127.0.0.1:${port}`;
    await sleep(50);
  }
}

/** A state in memory, for tests of one process. */
export function stateInMemory(): IndexStateStore {
  let state: IndexState = { index: '', checkpoint: undefined };
  return {
    load: () => Promise.resolve(state),
    store: (next) => {
      state = next;
      return Promise.resolve();
    },
  };
}

/** An empty index of a table of its own, whose changes are found at once. */
export async function newEngine(client: Client, more: Partial<EngineOptions> = {}): Promise<SearchEngine> {
  const engine = openSearchEngine({
    client,
    clock: systemClock,
    names: indexNames('Test', randomUUID()),
    state: stateInMemory(),
    inUse: true,
    others: () => Promise.resolve([]),
    refresh: true,
    shapeOf: () => Promise.resolve(undefined),
    onRefused: (refusals) => Promise.reject(new Error(JSON.stringify(refusals))),
    ...more,
  });
  await engine.checkpoint();
  return engine;
}

export const newClient = async () => openClient(await clusterUrl());
