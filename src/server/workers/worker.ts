import type { Socket } from 'node:net';

import type { Config } from '../../config.js';
import { processMetrics } from '../../http/requests.js';
import type { Log } from '../../log.js';
import { orderedMarker } from '../../pages/ordered-marker.js';
import { isPosition } from '../../search/embedded/read.js';
import type { Searcher, TextSearch } from '../../search/engine.js';
import { parseOrder } from '../../search/hit-order.js';
import type { ConsumerStatus } from '../../stream/consume/consumer.js';
import { Answering } from '../answering.js';
import { openBackend } from '../backend.js';
import { forgetCached } from '../consumer.js';
import { metricsOf, sampled } from '../hot-keys.js';
import { createHub } from '../live.js';
import type { Channel } from './channel.js';
import { mergedMetrics, snapshotOf } from './metrics.js';
import type { Boot, PrimaryCalls, UpkeepState, WorkerCalls } from './protocol.js';

/** A status that grows old until the next one arrives. */
function aging(status: ConsumerStatus, now: () => number): ConsumerStatus {
  const { behindMs } = status;
  const at = now();
  if (behindMs === undefined) return status;
  return {
    ...status,
    get behindMs() {
      return behindMs + now() - at;
    },
  };
}

/** Search through the index of the primary process. */
function searchBy(channel: Channel<PrimaryCalls>, config: Config, state: () => UpkeepState | undefined): TextSearch {
  const reader: Searcher = {
    search: (query, page) => channel.ask('search', query, page),
    count: (query) => channel.ask('count', query),
    isPosition: config.openSearchUrl === undefined ? isPosition : (text) => parseOrder(text) !== undefined,
  };
  return {
    open: () => reader,
    get status() {
      return state()?.search ?? { state: 'building' as const, read: 0, reason: null };
    },
    hasRead: (scope) => state()?.sourceStates.get(scope)?.isSearched === true,
  };
}

export interface RunningWorker {
  /** Answers the requests of a connection. */
  accept(socket: Socket): void;
  stop(): Promise<void>;
}

/** Answers requests as one of the workers of a server; `ended` is called when it has stopped. */
export async function runWorker(
  channel: Channel<PrimaryCalls>,
  { config, hasDemo }: Boot,
  ended: () => void,
  log: Log,
): Promise<RunningWorker> {
  let isStarting = true;
  const backend = sampled(await openBackend(config, { log, waits: () => isStarting }));
  const { clock, keys, consumption } = backend.database;
  const now = () => clock.now();
  let state: UpkeepState | undefined;
  const reading = new AbortController();
  const live = createHub(backend, log, reading.signal);
  const hasSearch = config.openSearchUrl !== undefined || config.searchBytes > 0;
  const answering = new Answering(
    config,
    backend,
    () => ({ take: (...args) => channel.ask('take', ...args), close: () => undefined }),
    {
      consumerStatus: () => state?.consumer,
      sourceConsumerStatus: (scope) => state?.sourceStates.get(scope)?.status,
      sourceLiveSince: (scope) => channel.ask('sourceLiveSince', scope),
      sources: () => state?.sources ?? [],
      live,
      search: hasSearch ? searchBy(channel, config, () => state) : undefined,
      ...(hasDemo && {
        load: () => state?.load ?? { state: 'loading', checked: 0, cities: 0, of: null, counted: false, reason: null },
      }),
      markerCounts: {
        admit: (...args) => channel.ask('admit', ...args),
        changed: (...args) => channel.tell('counted', ...args),
      },
      peers: {
        wrote: (...args) => channel.ask('wrote', ...args),
        changed: (...args) => channel.ask('changed', ...args),
      },
    },
    log,
  );
  const { services } = answering;
  const registry = processMetrics();
  const own = metricsOf(consumption, keys);
  async function stop(): Promise<void> {
    await answering.close();
    reading.abort();
    await backend.close();
    ended();
  }
  channel.offer<WorkerCalls>({
    state(told) {
      const aged = (status: ConsumerStatus) => aging(status, now);
      const states = Array.from(
        told.sourceStates,
        ([scope, one]) => [scope, { ...one, status: aged(one.status) }] as const,
      );
      state = { ...told, consumer: aged(told.consumer), sourceStates: new Map(states) };
    },
    cellsApplied: (...args) => services.cellCache.applied(...args),
    pageChanged: (name, round) => services.pageServices.pageCache.changed(name, round),
    answersChanged: (...args) => services.answers.changed(...args),
    forgetCached: () => forgetCached(services),
    take: (record) => live.take(record),
    connected: () => live.connected(),
    disconnected: (reason) => live.disconnected(reason),
    missed: (...args) => live.missed(...args),
    wrote(scope, writes, ranges) {
      const ordered = writes.map(({ entry, ...write }) => ({ ...write, entry: entry && orderedMarker(entry.marker) }));
      services.pageServices.ownWrites.add(scope, ordered);
      services.answers.changed(scope, ranges);
    },
    changed(key, collection) {
      if (collection) services.collectionCache.set(key, collection);
      else services.collectionCache.delete(key);
    },
    heard: (some) => some.filter((key) => live.isHeard({ key })),
    snapshot: () => snapshotOf(own, registry),
    stop: () => void stop(),
  });
  const metrics = mergedMetrics(() => channel.ask('snapshots'));
  const { http } = await answering.open({ metrics, registry });
  await http.ready();
  // It does not listen, but is to look for slow senders as if it did.
  http.server.emit('listening');
  await channel.ask('join');
  isStarting = false;
  return { accept: (socket) => http.server.emit('connection', socket), stop };
}
