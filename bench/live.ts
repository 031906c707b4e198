import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';

import { LiveHub } from '../src/live/hub.js';
import { silentLog } from '../src/log.js';
import { createHttpServer, createServices } from '../src/server/services.js';
import { newCall, type Database } from '../src/store/database.js';
import { createMarker } from '../src/store/marker/markers.js';
import { quantile, shown } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';
import { withFreshCollection, type FreshCollection } from './stream/fresh-collection.js';
import { consumerOf } from './stream/keep-cells.js';

const SUBSCRIBERS = 1_000;
const WRITES = 1_000;
const WRITES_A_SECOND = 25;
const BAR_MS = 1_000;
/** A change that has not arrived after this time counts as lost. */
const PATIENCE_MS = 15_000;

const QUERY = `subscription ($bounds: BoundsInput!) {
  markerChanged(collection: "places", bounds: $bounds) { kind id marker { key name position { lng lat } } }
}`;

/** The bounds of a subscriber, a twentieth of a degree from the next one's. */
const placeOf = (subscriber: number) => ({
  lng: -10 + (subscriber % 100) * 0.1,
  lat: 40 + Math.floor(subscriber / 100) * 0.1,
});

function boundsOf(subscriber: number) {
  const { lng, lat } = placeOf(subscriber);
  return { west: lng - 0.025, south: lat - 0.025, east: lng + 0.025, north: lat + 0.025 };
}

async function startServer(db: Database, hub: LiveHub) {
  const services = createServices(db, { cacheBytes: 0, live: hub });
  const { http, close } = await createHttpServer(services, { files: { staticDir: '' } });
  const url = await http.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `${url.replace('http', 'ws')}/graphql`,
    close,
  };
}

interface Outcome {
  readonly delays: readonly number[];
  /** Number of changes delivered to a wrong subscriber. */
  readonly strays: number;
  readonly lost: number;
}

async function measure({ database, engine, collection, now }: FreshCollection, subscribers: number, writes: number) {
  const hub = new LiveHub({ keys: database.keys, log: silentLog, clock: database.clock });
  const stop = new AbortController();
  const running = consumerOf(database, engine, undefined, (record) => hub.take(record)).run(stop.signal);
  hub.connected();
  const server = await startServer(database, hub);
  const clients: Client[] = [];
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  let heard = 0;
  let strays = 0;
  const settled = new Set<number>();
  const ended: unknown[] = [];
  try {
    for (let subscriber = 0; subscriber < subscribers; subscriber += 1) {
      // A server on a busy machine may refuse some of so many at once, with the code that means to try again.
      const client = createClient({ url: server.url, webSocketImpl: WebSocket, lazy: true, retryAttempts: 10 });
      clients.push(client);
      client.subscribe<{ markerChanged: { id: string } }>(
        { query: QUERY, variables: { bounds: boundsOf(subscriber) } },
        {
          next: ({ data }) => {
            const key = data?.markerChanged.id.split('::')[2];
            if (key === undefined) return;
            if (key.startsWith(`hello-${subscriber}-`)) settled.add(subscriber);
            else if (Number(key) % subscribers !== subscriber) strays += 1;
            else {
              heard += 1;
              delays.push(performance.now() - (sentAt.get(key) ?? Number.NaN));
            }
          },
          // Once all are established, these count as lost changes.
          error: (reason) => ended.push(reason),
          complete: () => ended.push('completed'),
        },
      );
    }
    const create = (key: string, subscriber: number) =>
      createMarker(newCall(database), collection, { key, position: placeOf(subscriber) }, now);
    // A subscription is established when it has delivered a change, of which it misses those before.
    for (let round = 0; settled.size < subscribers; round += 1) {
      if (ended.length > 0) throw new Error('a subscription ended before it was established', { cause: ended[0] });
      await sleep(3_000);
      for (let subscriber = 0; subscriber < subscribers; subscriber += 1)
        if (!settled.has(subscriber)) await create(`hello-${subscriber}-${round}`, subscriber);
    }
    const begun = performance.now();
    const writing: Promise<unknown>[] = [];
    for (let n = 0; n < writes; n += 1) {
      await sleep(begun + (n * 1_000) / WRITES_A_SECOND - performance.now());
      sentAt.set(String(n), performance.now());
      writing.push(create(String(n), n % subscribers));
    }
    await Promise.all(writing);
    for (const until = performance.now() + PATIENCE_MS; heard < writes && performance.now() < until;) await sleep(50);
    return { delays, strays, lost: writes - heard } satisfies Outcome;
  } finally {
    stop.abort();
    await running;
    await Promise.all(clients.map(async (client) => client.dispose()));
    await server.close();
  }
}

/** The delay from a write to its delivery to the subscriber. */
export const liveChanges: Benchmark = {
  name: 'live',
  hasCounts: true,
  async run({ quick, say }): Promise<Section> {
    const subscribers = quick ? 100 : SUBSCRIBERS;
    const writes = quick ? 100 : WRITES;
    const { delays, strays, lost } = await withFreshCollection((tables) => measure(tables, subscribers, writes));
    const [p50, p99] = [quantile(delays, 0.5), quantile(delays, 0.99)];
    say(
      `${delays.length} changes: p50 ${shown(p50, 0)} ms, p99 ${shown(p99, 0)} ms, ${strays} misdelivered, ${lost} lost`,
    );
    return {
      title: `Live: ${subscribers.toLocaleString('en')} subscribers on one server`,
      rows: [
        {
          what: `changes delivered to a wrong subscriber, and lost, of ${writes.toLocaleString('en')}`,
          bar: 'none',
          measured: `${strays} and ${lost}`,
          against: '',
          holds: strays === 0 && lost === 0,
        },
        {
          what: 'from a write to its subscriber, p50 and p99',
          bar: `at most ${BAR_MS.toLocaleString('en')} ms`,
          measured: `${shown(p50, 0)} and ${shown(p99, 0)} ms`,
          against: 'the stream is read every 200 ms',
          holds: quick ? undefined : p99 <= BAR_MS,
        },
      ],
      text: '',
      isDetail: true,
    };
  },
};
