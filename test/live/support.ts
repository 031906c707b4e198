import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';

import { silentLog } from '../../src/log.js';
import { startConsumer, type Caches } from '../../src/server/consumer.js';
import { openLive } from '../../src/server/live.js';
import type { Database } from '../../src/store/database.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { engine } from '../support/test-database.js';

/** Follows a database's changes like a server: with its own consumer, or next to that of another server. */
export function followChanges(
  db: Database,
  { redisUrl, caches }: { readonly redisUrl?: string; readonly caches?: Caches } = {},
) {
  const streams = createStreamsClient(engine());
  const backend = { database: db, streams };
  const live = openLive(backend, redisUrl, silentLog);
  const cells = startConsumer(backend, silentLog, { live: live.feed, caches });
  return {
    hub: live.hub,
    cells,
    backend,
    async stop() {
      live.hub.close();
      await live.close();
      await cells.stop();
      streams.destroy();
    },
  };
}

/** Far longer than anything takes on a busy machine, and sooner than a test times out. */
const NEVER_MS = 240_000;

/** Waits until a condition is true; fails with its text and what `shown` returns if that takes minutes. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  everyMs = 100,
  shown: () => unknown = () => '',
): Promise<void> {
  const end = Date.now() + NEVER_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${holds.toString()} is still not true ${JSON.stringify(shown())}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** A client over a WebSocket with these headers in its first message; `connected` resolves when it is. */
export function websocketClient(url: string, connectionParams: Record<string, string> = {}): Client {
  const address = `${url.replace('http', 'ws')}/graphql`;
  return createClient({ url: address, webSocketImpl: WebSocket, retryAttempts: 0, connectionParams });
}

/** The data of one response. Tests read responses of every shape; their assertions state what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = Readonly<Record<string, any>>;

/** What a subscription has received so far, and how it ended. */
export interface Collected {
  readonly data: Data[];
  readonly errors: Readonly<{ message: string; extensions: Readonly<Record<string, unknown>> }>[];
  ended: 'complete' | 'error' | undefined;
  stop(): void;
}

/** Subscribes and collects the events. */
export function collect(client: Client, query: string, variables: Readonly<Record<string, unknown>> = {}): Collected {
  const collected: Collected = { data: [], errors: [], ended: undefined, stop: () => undefined };
  collected.stop = client.subscribe<Record<string, unknown>>(
    { query, variables },
    {
      next: ({ data, errors = [] }) => {
        if (data) collected.data.push(data);
        collected.errors.push(...(errors as unknown as Collected['errors']));
      },
      error: (error) => {
        collected.ended = 'error';
        if (Array.isArray(error)) collected.errors.push(...(error as Collected['errors']));
      },
      complete: () => {
        collected.ended ??= 'complete';
      },
    },
  );
  return collected;
}
