import { reasonFor } from '../../errors.js';
import type { Log } from '../../log.js';
import { STALE_AFTER_MS } from '../../model/limits.js';
import type { Database } from '../../store/database.js';
import { LeaseLost } from '../../store/lease.js';
import { isFailure } from '../../store/request/failures.js';
import { newCall } from '../../store/request/meter.js';
import { noteFailure } from '../../store/source/failure.js';
import type { SourceCollection } from '../../store/source/source-mapping.js';
import { type ConsumerStatus } from '../../stream/consume/consumer.js';
import { StreamFailure, type StreamPort } from '../../stream/ports.js';
import { sourceConsumer } from './report.js';

/** Shorter failures are caught up. */
const FAILING_MS = 5_000;

/** Notes in the database why a source cannot be read, so that every process can tell, until it can again. */
export class Failures {
  readonly #database: Database;
  readonly #collection: SourceCollection;
  readonly #log: Log;
  /** Undefined before the first look: an earlier process may have noted one. */
  #noted: string | null | undefined;
  /** When calls of the stream began to fail; undefined if the last one did not. */
  #failingSince: number | undefined;

  constructor(database: Database, collection: SourceCollection, log: Log) {
    this.#database = database;
    this.#collection = collection;
    this.#log = log;
  }

  /** What is noted; null if nothing is. */
  get now(): string | null {
    return this.#noted ?? null;
  }

  /** A stream whose lasting failures are noted: consumers try again for as long as it takes. */
  watched(port: StreamPort): StreamPort {
    const { clock } = this.#database;
    const watch =
      <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        try {
          const answer = await call(...args);
          this.#failingSince = undefined;
          return answer;
        } catch (error) {
          if (error instanceof StreamFailure) throw error;
          this.#failingSince ??= clock.now();
          if (clock.now() - this.#failingSince >= FAILING_MS) void this.note(error);
          throw error;
        }
      };
    return {
      identify: watch(() => port.identify()),
      listShards: watch((stream, after) => port.listShards(stream, after)),
      openShard: watch((stream, shard, start) => port.openShard(stream, shard, start)),
      readRecords: watch((iterator) => port.readRecords(iterator)),
    };
  }

  async note(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) return;
    const { table } = this.#collection.source;
    const denied = `this server may not read table ${table}: see \`cellport iam --role source --table ${table}\``;
    await this.#set(isFailure(error, 'AccessDeniedException') ? denied : reasonFor(error));
  }

  async look({ owner, gap, behindMs = Infinity }: ConsumerStatus): Promise<void> {
    if (owner && gap === null && behindMs <= STALE_AFTER_MS) await this.clear();
  }

  clear(): Promise<void> {
    return this.#set(null);
  }

  async #set(reason: string | null): Promise<void> {
    if (reason === this.#noted) return;
    this.#noted = reason;
    const since = new Date(this.#database.clock.wall()).toISOString();
    const failure = reason === null ? null : { reason, since };
    const consumer = sourceConsumer(this.#database.keys.scope(this.#collection));
    await noteFailure(this.#database, consumer, failure, newCall()).catch((err: unknown) => {
      this.#noted = undefined;
      this.#log.warn({ err }, 'Cannot note the state of a source');
    });
  }
}
