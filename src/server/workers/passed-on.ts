import type { Keyspace } from '../../keys/keyspace.js';
import { isTold } from '../../live/change.js';
import type { Collection } from '../../model/collection.js';
import type { StreamRecord } from '../../stream/change.js';
import type { Caches } from '../consumer.js';
import type { Hub } from '../live.js';
import type { Channel } from './channel.js';
import type { WorkerProcesses } from './processes.js';
import type { WorkerCalls } from './protocol.js';

/** The caches of all workers. */
export const cachesOf = ({ tell }: WorkerProcesses): Caches => ({
  cellCache: { applied: (...args) => tell('cellsApplied', ...args), clear: () => tell('forgetCached') },
  pageServices: { pageCache: { changed: (name, round) => tell('pageChanged', name, round), clear: () => undefined } },
  changes: { changed: (...args) => tell('areasChanged', ...args), clear: () => undefined },
});

/** The subscribers of all workers. */
export class WorkersHub implements Hub {
  readonly #workers: WorkerProcesses;
  readonly #keys: Keyspace;
  /** Collections whose sources are followed while anyone subscribes, and those to which clients of a worker do, by key. */
  readonly #followed = new Set<string>();
  readonly #heard = new Map<Channel<WorkerCalls>, readonly string[]>();
  /** The latter, of all workers. */
  #subscribed: ReadonlySet<string> = new Set();
  isConnected = false;

  constructor(workers: WorkerProcesses, keys: Keyspace) {
    this.#workers = workers;
    this.#keys = keys;
  }

  take(record: StreamRecord): void {
    if (isTold(this.#keys, record)) this.#workers.tell('take', record);
  }

  connected(): void {
    this.isConnected = true;
    this.#workers.tell('connected');
  }

  disconnected(reason: string): void {
    this.isConnected = false;
    this.#workers.tell('disconnected', reason);
  }

  missed(collection: Collection, reason: string): void {
    this.#workers.tell('missed', collection, reason);
  }

  isHeard({ key }: Pick<Collection, 'key'>): boolean {
    this.#followed.add(key);
    return this.#subscribed.has(key);
  }

  /** Learns to which of the collections whose sources are followed anyone subscribes. */
  async listen(): Promise<void> {
    const keys = [...this.#followed];
    for (const worker of this.#heard.keys()) if (worker.isClosed) this.#heard.delete(worker);
    // For one that does not answer in time, as before.
    if (keys.length > 0)
      await this.#workers.ask(async (worker) => this.#heard.set(worker, await worker.ask('heard', keys)));
    this.#subscribed = new Set([...this.#heard.values()].flat());
  }
}
