import type { Buckets } from '../../access/budgets.js';
import { MarkerCounts } from '../../access/marker-counts.js';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config.js';
import { CellportError } from '../../errors.js';
import type { Readiness } from '../../http/health.js';
import { LAG_MS } from '../../loaders/followed-cache.js';
import type { Log } from '../../log.js';
import type { Limits } from '../../model/limits.js';
import { OwnWrites } from '../../read/from-pages/own-writes.js';
import type { Database } from '../../store/database.js';
import { openBuckets } from '../answering.js';
import type { Backend } from '../backend.js';
import { noConsumer } from '../consumer.js';
import { metricsOf } from '../hot-keys.js';
import { createAdmin, listen } from '../listen.js';
import { receiveLive } from '../live.js';
import { openSearch, openUpkeep, type Server, type ServerParts, type Upkeep } from '../open-server.js';
import type { ServerSearch } from '../search.js';
import type { Channel } from './channel.js';
import { countedBy, mergedMetrics, snapshotOf, type Snapshot } from './metrics.js';
import { cachesOf, WorkersHub } from './passed-on.js';
import { WorkerProcesses, type Worker } from './processes.js';
import type { PrimaryCalls, UpkeepState, WorkerCalls } from './protocol.js';

const TELL_EVERY_MS = 100;
/** Beyond what requests in progress may take. */
const STOPS_WITHIN_MS = 5_000;

const NO_WORKER: Readiness = {
  ready: false,
  reasons: ['no worker process answers requests'],
  clock: { aheadMs: null, warning: null },
  stream: null,
  load: null,
  search: null,
  sources: [],
};

/** The part of one worker in the limits of a server: connections are spread evenly. */
function partOf(limits: Limits, workers: number): Limits {
  const part = (limit: number) => Math.ceil(limit / workers);
  return {
    ...limits,
    subscriptions: part(limits.subscriptions),
    connectionsPerAddress: part(limits.connectionsPerAddress),
    handshakesPerAddress: part(limits.handshakesPerAddress),
    socketsPerMinute: part(limits.socketsPerMinute),
  };
}

/** What is counted, or searched, once for all workers. */
function sharedCalls(config: Config, backend: Backend, search: ServerSearch | undefined, buckets: Buckets) {
  const counts = new MarkerCounts(() => backend.database.clock.wall());
  const reader = () => {
    if (search === undefined) throw new CellportError('UNAVAILABLE', 'search is turned off');
    return search.open();
  };
  const inTime = () => AbortSignal.timeout(config.limits.deadlineMs);
  return {
    take: (...args) => buckets.take(...args),
    admit: (...args) => counts.admit(...args),
    counted: (...args) => counts.changed(...args),
    search: (query, page) => reader().search(query, page, inTime()),
    count: (query) => reader().count(query, inTime()),
  } satisfies Partial<PrimaryCalls>;
}

/** What reads the metrics of all processes. */
function snapshotsOf(workers: WorkerProcesses, { consumption, keys }: Database) {
  const metrics = consumption && metricsOf(consumption, keys);
  const latest = new Map<Channel<WorkerCalls>, Snapshot>();
  let ended = countedBy([]);
  return async (): Promise<Snapshot[]> => {
    const own = metrics ? [await snapshotOf(metrics)] : [];
    await workers.ask(async (worker) => latest.set(worker, await worker.ask('snapshot')));
    for (const [worker, snapshot] of latest) {
      if (!worker.isClosed) continue;
      latest.delete(worker);
      ended = ended.then((before) => countedBy([before, snapshot]));
    }
    return [...own, await ended, ...latest.values()];
  };
}

function stateOf(
  { derived, ends, sources }: Upkeep,
  search: ServerSearch | undefined,
  demo: ServerParts['demo'],
): UpkeepState {
  const kept = sources();
  const sourceStates = Array.from(kept?.statuses() ?? [], ([scope, status]) => {
    const isSearched = search?.hasRead(scope) === true;
    return [scope, { status, isSearched }] as const;
  });
  return {
    at: systemClock.wall(),
    consumer: derived.status(),
    ends,
    load: demo?.readiness(),
    search: search?.status,
    sources: kept?.list() ?? [],
    sourceStates: new Map(sourceStates),
  };
}

/**
 * Opens a server whose requests are answered by workers, processes that share its port. This one, the primary, does what has
 * to be done once: it follows the streams, and tells the workers what changes, so that these answer as one process would.
 */
export function openPrimary(
  config: Config,
  backend: Backend,
  { demo }: ServerParts,
  count: number,
  log: Log,
): Pick<Server, 'derived' | 'listen' | 'admin' | 'close'> {
  const search = openSearch(config, backend, log, () => demo?.readiness().state === 'loading');
  const buckets = openBuckets(config, backend, log);
  const shared = sharedCalls(config, backend, search, buckets);
  /** For workers that start. */
  const ownWrites = new OwnWrites(() => backend.database.clock.wall());
  const workers = new WorkerProcesses(callsOf, log);
  const hub = new WorkersHub(workers, backend.database.keys);
  const snapshots = snapshotsOf(workers, backend.database);
  const admin = createAdmin(config, mergedMetrics(snapshots), log);
  let upkeep: Upkeep | undefined;
  let telling: NodeJS.Timeout | undefined;
  /** What lets the first workers answer. */
  const beginning: (() => void)[] = [];

  /** Starts to follow the streams. */
  function startUpkeep(): Upkeep {
    const live = receiveLive(backend, config.redisUrl, log, hub);
    const parts = { caches: cachesOf(workers), live, search, metrics: mergedMetrics(snapshots) };
    const started = openUpkeep(config, backend, parts, log);
    started.start();
    telling = setInterval(() => {
      workers.tell('state', stateOf(started, search, demo));
      void hub.listen();
    }, TELL_EVERY_MS);
    return started;
  }

  async function join(worker: Worker): Promise<void> {
    const { channel } = worker;
    worker.hasJoined = true;
    if (upkeep === undefined) {
      const begun = new Promise<void>((resolve) => beginning.push(resolve));
      // Now all of them get every change.
      if (beginning.length === count) {
        upkeep = startUpkeep();
        workers.tell('state', stateOf(upkeep, search, demo));
        for (const begin of beginning) begin();
      }
      return begun;
    }
    channel.tell('state', stateOf(upkeep, search, demo));
    const { endAt } = upkeep.derived.status();
    for (const [scope, writes] of ownWrites.all(endAt ?? 0)) channel.tell('wrote', scope, writes, []);
    if (hub.isConnected) channel.tell('connected');
    // What it reads by then may lack changes that it was not told.
    return systemClock.sleep(LAG_MS);
  }

  /** What a worker can call. */
  function callsOf(worker: Worker): Omit<PrimaryCalls, 'answers' | 'accepted'> {
    return {
      ...shared,
      boot: () => ({ config: { ...config, limits: partOf(config.limits, count) }, hasDemo: demo !== undefined }),
      join: () => join(worker),
      wrote(scope, writes, ranges) {
        ownWrites.add(scope, writes);
        // Forgets those that pages have.
        ownWrites.of(scope, upkeep?.derived.status().endAt ?? 0);
        return workers.note(worker, (other) => other.ask('wrote', scope, writes, ranges));
      },
      changed: (...change) => workers.note(worker, (other) => other.ask('changed', ...change)),
      sourceLiveSince: async (scope) => upkeep?.liveSince(scope),
      snapshots,
    };
  }

  return {
    get derived() {
      return upkeep?.derived ?? noConsumer();
    },
    admin,
    async listen() {
      await admin.open(async () => (await workers.first((worker) => worker.ask('ready'))) ?? NO_WORKER);
      await workers.start(count);
      return listen(workers.server, config.http);
    },
    async close() {
      await workers.stop(config.http.drainMs, config.limits.deadlineMs + STOPS_WITHIN_MS);
      clearInterval(telling);
      buckets.close();
      await Promise.all([admin.close(), upkeep?.stop()]);
    },
  };
}
