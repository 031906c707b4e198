import { createServer } from 'node:net';

import type { Buckets } from '../../access/budgets.js';
import { MarkerCounts } from '../../access/marker-counts.js';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config.js';
import { CellportError } from '../../errors.js';
import { processMetrics } from '../../http/requests.js';
import { isTold } from '../../live/change.js';
import { LAG_MS } from '../../loaders/followed-cache.js';
import type { Log } from '../../log.js';
import type { Limits } from '../../model/limits.js';
import { OwnWrites } from '../../read/from-pages/own-writes.js';
import { openBuckets } from '../answering.js';
import type { Backend } from '../backend.js';
import type { Caches } from '../consumer.js';
import { metricsOf } from '../hot-keys.js';
import { listen } from '../listen.js';
import { receiveLive, type Hub } from '../live.js';
import type { Server, ServerParts } from '../open-server.js';
import type { ServerSearch } from '../search.js';
import { openSearch, Upkeep } from '../upkeep.js';
import type { Channel } from './channel.js';
import { mergedMetrics, snapshotOf, type Snapshot } from './metrics.js';
import { WorkerProcesses, type Worker } from './processes.js';
import type { PrimaryCalls, UpkeepState, WorkerCalls } from './protocol.js';

const TELL_EVERY_MS = 100;
/** A worker that takes longer to note what others have written is no longer waited for. */
const NOTED_WITHIN_MS = 1_000;
/** Beyond what requests in progress may take. */
const STOPS_WITHIN_MS = 5_000;

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

/**
 * A server whose requests are answered by workers, processes that share its port. This one, the primary, does what has to
 * be done once: it follows the streams, and tells the workers what changes, so that these answer as one process would.
 */
export class Primary implements Pick<Server, 'derived' | 'listen' | 'close'> {
  readonly #config: Config;
  readonly #backend: Backend;
  readonly #parts: ServerParts;
  readonly #count: number;
  readonly #log: Log;
  readonly #workers: WorkerProcesses;
  readonly #search: ServerSearch | undefined;
  readonly #buckets: Buckets;
  readonly #registry = processMetrics();
  readonly #counts: MarkerCounts;
  /** For workers that start. */
  readonly #ownWrites: OwnWrites;
  #upkeep: Upkeep | undefined;
  #isConnected = false;
  /** Collections whose sources are followed while anyone subscribes, and those to which anyone does. */
  readonly #followed = new Set<string>();
  #heard: ReadonlySet<string> = new Set();
  #telling: NodeJS.Timeout | undefined;
  /** What lets the first workers answer. */
  readonly #begin: (() => void)[] = [];
  readonly #server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#workers.spread(socket));

  constructor(config: Config, backend: Backend, parts: ServerParts, count: number, log: Log) {
    const wall = () => backend.database.clock.wall();
    this.#config = config;
    this.#backend = backend;
    this.#parts = parts;
    this.#count = count;
    this.#log = log;
    this.#search = openSearch(config, backend, log, () => parts.demo?.readiness().state === 'loading');
    this.#buckets = openBuckets(config, backend, log);
    this.#counts = new MarkerCounts(wall);
    this.#ownWrites = new OwnWrites(wall);
    this.#workers = new WorkerProcesses((worker) => this.#callsOf(worker), log);
  }

  get derived() {
    if (this.#upkeep === undefined) throw new Error('the server does not listen yet');
    return this.#upkeep.derived;
  }

  async listen(): Promise<string> {
    await this.#workers.start(this.#count);
    return listen(this.#server, this.#config.http);
  }

  async close(): Promise<void> {
    const { limits, http } = this.#config;
    clearInterval(this.#telling);
    const stopping = this.#workers.stop(http.drainMs + limits.deadlineMs + STOPS_WITHIN_MS);
    await systemClock.sleep(http.drainMs);
    this.#server.close();
    await stopping;
    this.#buckets.close();
    await this.#upkeep?.stop();
  }

  readonly #tell: Channel<WorkerCalls>['tell'] = (...call) => {
    for (const { channel } of this.#workers.joined) channel.tell(...call);
  };

  /** Starts to follow the streams, when all workers get every change. */
  #startUpkeep(): Upkeep {
    const tell = this.#tell;
    const caches: Caches = {
      cellCache: { applied: (...args) => tell('cellsApplied', ...args), clear: () => tell('forgetCached') },
      pageServices: {
        pageCache: { changed: (name, round) => tell('pageChanged', name, round), clear: () => undefined },
      },
      answers: { changed: (...args) => tell('answersChanged', ...args), clear: () => undefined },
    };
    const { keys } = this.#backend.database;
    const hub: Hub = {
      take: (record) => isTold(keys, record) && tell('take', record),
      connected: () => {
        this.#isConnected = true;
        tell('connected');
      },
      disconnected: (reason) => {
        this.#isConnected = false;
        tell('disconnected', reason);
      },
      missed: (...args) => tell('missed', ...args),
      isHeard: ({ key }) => {
        this.#followed.add(key);
        return this.#heard.has(key);
      },
    };
    const live = receiveLive(this.#backend, this.#config.redisUrl, this.#log, hub);
    const metrics = mergedMetrics(() => this.#snapshots());
    const parts = { caches, live, search: this.#search, metrics };
    const upkeep = new Upkeep(this.#config, this.#backend, parts, this.#log);
    this.#telling = setInterval(() => {
      tell('state', this.#stateOf(upkeep));
      void this.#listen();
    }, TELL_EVERY_MS);
    tell('state', this.#stateOf(upkeep));
    upkeep.start();
    return upkeep;
  }

  #stateOf(upkeep: Upkeep): UpkeepState {
    const hasRead = (scope: string) => this.#search?.hasRead(scope) === true;
    const states = Array.from(
      upkeep.sourceStatuses(),
      ([scope, status]) => [scope, { status, isSearched: hasRead(scope) }] as const,
    );
    return {
      consumer: upkeep.derived.status(),
      load: this.#parts.demo?.readiness(),
      search: this.#search?.status,
      sources: upkeep.sources(),
      sourceStates: new Map(states),
    };
  }

  /** Learns to which sources anyone subscribes. */
  async #listen(): Promise<void> {
    if (this.#followed.size === 0) return;
    const keys = [...this.#followed];
    this.#heard = new Set((await this.#ask((channel) => channel.ask('heard', keys))).flat());
  }

  /** The answers of all workers, but for those that end meanwhile. */
  async #ask<T>(of: (channel: Channel<WorkerCalls>) => Promise<T>, but?: Worker): Promise<T[]> {
    const others = this.#workers.joined.filter((worker) => worker !== but);
    const answers = await Promise.allSettled(others.map(({ channel }) => of(channel)));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  async #snapshots(): Promise<Snapshot[]> {
    const { consumption, keys } = this.#backend.database;
    const own = consumption && (await snapshotOf(metricsOf(consumption, keys), this.#registry));
    return [...(own ? [own] : []), ...(await this.#ask((channel) => channel.ask('snapshot')))];
  }

  /** Tells all workers but one, and waits until they have noted it. */
  async #note(but: Worker, note: (channel: Channel<WorkerCalls>) => Promise<void>): Promise<void> {
    const noted = new AbortController();
    const all = this.#ask(note, but).finally(() => noted.abort());
    await Promise.race([all, systemClock.sleep(NOTED_WITHIN_MS, noted.signal)]);
  }

  async #join(worker: Worker): Promise<void> {
    const { channel } = worker;
    worker.hasJoined = true;
    if (this.#upkeep === undefined) {
      const begun = new Promise<void>((resolve) => this.#begin.push(resolve));
      if (this.#begin.length === this.#count) {
        this.#upkeep = this.#startUpkeep();
        for (const begin of this.#begin) begin();
      }
      return begun;
    }
    channel.tell('state', this.#stateOf(this.#upkeep));
    const { endAt } = this.#upkeep.derived.status();
    for (const [scope, writes] of this.#ownWrites.all(endAt ?? 0)) channel.tell('wrote', scope, writes, []);
    if (this.#isConnected) channel.tell('connected');
    // What it reads by then may lack changes that it was not told.
    return systemClock.sleep(LAG_MS);
  }

  /** What a worker can call. */
  #callsOf(worker: Worker): Omit<PrimaryCalls, 'answers' | 'accepted'> {
    const { limits } = this.#config;
    const reader = () => {
      if (this.#search === undefined) throw new CellportError('UNAVAILABLE', 'search is turned off');
      return this.#search.open();
    };
    const inTime = () => AbortSignal.timeout(limits.deadlineMs);
    return {
      boot: () => ({
        config: { ...this.#config, limits: partOf(limits, this.#count) },
        hasDemo: this.#parts.demo !== undefined,
      }),
      join: () => this.#join(worker),
      wrote: (scope, writes, ranges) => {
        this.#ownWrites.add(scope, writes);
        this.#ownWrites.of(scope, this.#upkeep?.derived.status().endAt ?? 0);
        return this.#note(worker, (channel) => channel.ask('wrote', scope, writes, ranges));
      },
      changed: (key, collection) => this.#note(worker, (channel) => channel.ask('changed', key, collection)),
      take: (...args) => this.#buckets.take(...args),
      admit: (...args) => this.#counts.admit(...args),
      counted: (...args) => this.#counts.changed(...args),
      search: (query, page) => reader().search(query, page, inTime()),
      count: (query) => reader().count(query, inTime()),
      sourceLiveSince: async (scope) => this.#upkeep?.sourceLiveSince(scope),
      snapshots: () => this.#snapshots(),
    };
  }
}
