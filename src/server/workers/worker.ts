import type { Socket } from 'node:net';

import type { Buckets } from '../../access/budgets.js';
import { elapsedSince, systemClock } from '../../clock.js';
import type { LiveHub } from '../../live/hub.js';
import type { Log } from '../../log.js';
import { received } from '../../read/from-pages/own-writes.js';
import { isPosition } from '../../search/embedded/read.js';
import type { TextSearch } from '../../search/engine.js';
import { parseOrder } from '../../search/hit-order.js';
import type { Database } from '../../store/database.js';
import type { ConsumerStatus } from '../../stream/consume/consumer.js';
import { openAnswering } from '../answering.js';
import { openBackend } from '../backend.js';
import { forgetCached, storedReport } from '../consumer.js';
import { metricsOf, sampled } from '../hot-keys.js';
import { createHub } from '../live.js';
import type { ServerServices, ServiceOverrides } from '../services.js';
import type { Channel } from './channel.js';
import { mergedMetrics, snapshotOf } from './metrics.js';
import type { Boot, PrimaryCalls, UpkeepState, WorkerCalls } from './protocol.js';

/** Before the primary process has told what it loads. */
const LOADING = { state: 'loading', checked: 0, cities: 0, of: null, counted: false, reason: null } as const;

/**
 * A status, as it was at a time by the clock of the machine, that grows old until the next one arrives. A process that has
 * stood still receives those of all that time at once.
 */
export function aging(status: ConsumerStatus, toldAt: number): ConsumerStatus {
  const { behindMs } = status;
  const told = { now: systemClock.now(), wall: toldAt };
  if (behindMs === undefined) return status;
  return {
    ...status,
    get behindMs() {
      return behindMs + elapsedSince(told, systemClock);
    },
  };
}

/** What services take from the primary process, and what takes its state. */
function servicesBy(channel: Channel<PrimaryCalls>, { config, hasDemo }: Boot, database: Database) {
  let state: UpkeepState | undefined;
  const search: TextSearch = {
    open: () => ({
      search: (query, page) => channel.ask('search', query, page),
      count: (query) => channel.ask('count', query),
      isPosition: config.openSearchUrl === undefined ? isPosition : (text) => parseOrder(text) !== undefined,
    }),
    get status() {
      return state?.search ?? { state: 'building' as const, read: 0, reason: null };
    },
    hasRead: (scope) => state?.sourceStates.get(scope)?.isSearched === true,
  };
  const hasSearch = config.openSearchUrl !== undefined || config.searchBytes > 0;
  const services: ServiceOverrides = {
    consumerStatus: () => state?.consumer,
    storedReport: () => storedReport(database, state?.ends),
    sourceConsumerStatus: (scope) => state?.sourceStates.get(scope)?.status,
    sourceLiveSince: (scope) => channel.ask('sourceLiveSince', scope),
    sources: () => state?.sources ?? [],
    markerCounts: {
      admit: (...args) => channel.ask('admit', ...args),
      changed: (...args) => channel.tell('counted', ...args),
    },
    peers: {
      wrote: (...args) => channel.ask('wrote', ...args),
      changed: (...args) => channel.ask('changed', ...args),
    },
    ...(hasSearch && { search }),
    ...(hasDemo && { load: () => state?.load ?? LOADING }),
  };
  const take = (told: UpkeepState) => {
    const sources = Array.from(
      told.sourceStates,
      ([scope, one]) => [scope, { ...one, status: aging(one.status, told.at) }] as const,
    );
    state = { ...told, consumer: aging(told.consumer, told.at), sourceStates: new Map(sources) };
  };
  return { services, take };
}

type ChangeCalls = Omit<WorkerCalls, 'state' | 'snapshot' | 'ready' | 'stop'>;

/** What takes the changes that the primary process passes on. */
function changesOf(services: ServerServices, live: LiveHub): ChangeCalls {
  return {
    cellsApplied: (...args) => services.cellCache.applied(...args),
    pageChanged: (name, round) => services.pageServices.pageCache.changed(name, round),
    areasChanged: (...args) => services.changes.changed(...args),
    forgetCached: () => forgetCached(services),
    take: (record) => live.take(record),
    connected: () => live.connected(),
    disconnected: (reason) => live.disconnected(reason),
    missed: (...args) => live.missed(...args),
    wrote(scope, writes, ranges) {
      services.pageServices.ownWrites.add(scope, writes.map(received));
      services.changes.changed(scope, ranges);
    },
    changed: (key, collection) => services.collectionCache.set(key, collection),
    heard: (some) => some.filter((key) => live.isHeard({ key })),
  };
}

export interface RunningWorker {
  /** Answers the requests of a connection. */
  accept(socket: Socket): void;
  /** Ends when the requests in progress are answered. */
  stop(): Promise<void>;
}

/** Answers requests as one of the workers of a server; `ended` is called when it has stopped. */
export async function runWorker(
  channel: Channel<PrimaryCalls>,
  boot: Boot,
  ended: () => void,
  log: Log,
): Promise<RunningWorker> {
  const { config } = boot;
  let isStarting = true;
  const backend = sampled(await openBackend(config, { log, waits: () => isStarting }));
  const { keys, consumption } = backend.database;
  const reading = new AbortController();
  const live = createHub(backend, log, reading.signal);
  const upkeep = servicesBy(channel, boot, backend.database);
  const buckets: Buckets = { take: (...args) => channel.ask('take', ...args), close: () => undefined };
  const answering = openAnswering(config, backend, () => buckets, { ...upkeep.services, live }, log);
  const own = metricsOf(consumption, keys);
  let stopping = false;
  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    await answering.close();
    reading.abort();
    await backend.close();
    ended();
  }
  // The primary process has the admin port.
  const metrics = config.http.admin ? undefined : mergedMetrics(() => channel.ask('snapshots'));
  const opening = answering.open({ metrics, registry: own.registry() });
  channel.offer<WorkerCalls>({
    ...changesOf(answering.services, live),
    state: upkeep.take,
    snapshot: () => snapshotOf(own),
    ready: async () => (await opening).ready(),
    stop: () => void stop(),
  });
  const { http } = await opening;
  await http.ready();
  // It does not listen, but is to look for slow senders as if it did.
  http.server.emit('listening');
  await channel.ask('join');
  isStarting = false;
  return { accept: (socket) => http.server.emit('connection', socket), stop };
}
