import type { Keyspace } from '../../keys/keyspace.js';
import { isTold } from '../../live/change.js';
import type { Collection } from '../../model/collection.js';
import type { StreamRecord } from '../../stream/change.js';
import type { Caches } from '../consumer.js';
import type { Hub } from '../live.js';
import type { WorkerProcesses } from './processes.js';

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
  /** Collections whose sources are followed while anyone subscribes, and those to which anyone does, by key. */
  readonly #followed = new Set<string>();
  #heard: ReadonlySet<string> = new Set();
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
    return this.#heard.has(key);
  }

  /** Learns to which of the collections whose sources are followed anyone subscribes. */
  async listen(): Promise<void> {
    const keys = [...this.#followed];
    if (keys.length > 0) this.#heard = new Set((await this.#workers.ask((worker) => worker.ask('heard', keys))).flat());
  }
}
