import { isDeepStrictEqual } from 'node:util';

import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import { IndexFault, type IndexStatus, type SearchEngine } from '../search/engine.js';
import { IndexFollower, type FollowIndexOptions } from '../search/follow.js';
import { IndexParts } from '../search/index-parts.js';
import { openSourceIndex } from '../search/source-index.js';
import { openSearchTables } from '../search/tables.js';
import { CONSUMER } from '../store/cell/stream-state.js';
import { LeaseLost } from '../store/lease.js';
import { hasSource, type SourceCollection } from '../store/source/source-mapping.js';
import { openStream } from '../stream/source/dynamodb.js';
import type { StreamBackend } from './backend.js';
import { inBackground, type Background } from './background.js';
import { sourceParts } from './sources/fill.js';
import { sourceLog } from './sources/source-log.js';

const LOOK_EVERY_MS = 5_000;
const OPENS_WITHIN_MS = 50;
/** Each server reads the streams of all sources for its own index: rarely, as others read them, too. */
const SOURCE_POLL_MS = 2_000;

/** Keeps an index consistent with the entities table and with all sources. */
export class ServerIndex {
  readonly #backend: StreamBackend;
  readonly #options: Omit<FollowIndexOptions, 'engine' | 'stream' | 'tables'>;
  readonly #parts: IndexParts;
  readonly #tables;
  readonly #own: IndexFollower;
  readonly #sources = new Map<string, { readonly collection: SourceCollection; readonly following: Background }>();
  #knowsSources = false;

  /** With any engine; reads less while `isBusy` returns true. */
  constructor(engine: SearchEngine, backend: StreamBackend, log: Log, isBusy: (() => boolean) | undefined) {
    const { database, streams } = backend;
    const { clock, keys, scheduler } = database;
    this.#backend = backend;
    this.#options = { clock, keys, turn: scheduler.takeTurn, log, isBusy };
    this.#parts = new IndexParts(engine);
    this.#tables = openSearchTables(database, CONSUMER);
    const [own, stream] = [this.#parts.own(), openStream(database, streams)];
    this.#own = new IndexFollower({ ...this.#options, engine: own, stream, tables: this.#tables });
  }

  /** That of the entities table. */
  get status(): IndexStatus {
    return this.#own.status;
  }

  /** See `IndexFollower.completeAt`. */
  get completeAt(): number | undefined {
    return this.#own.completeAt;
  }

  /** Whether it has the markers of all sources that are filled. */
  get hasSources(): boolean {
    return this.#knowsSources && this.#parts.sources.every((scope) => this.hasRead(scope));
  }

  /** See `TextSearch.hasRead`. */
  hasRead(scope: string): boolean {
    return this.#parts.hasRead(scope);
  }

  /** See `IndexFollower.run`. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const ended = new AbortController();
    const ending = AbortSignal.any([signal, ended.signal]);
    let fault: unknown;
    const end = (error?: unknown) => {
      fault ??= error;
      ended.abort();
    };
    const own = this.#own.run(ending).then(() => end(), end);
    while (!this.#parts.isOpen && !ending.aborted) await clock.sleep(OPENS_WITHIN_MS, ending);
    while (!ending.aborted) {
      await this.#look(end).catch((err: unknown) => {
        if (err instanceof LeaseLost || err instanceof IndexFault) end(err);
        else if (!ending.aborted) log.warn({ err }, 'Cannot list the sources that are searched; retrying');
      });
      await clock.sleep(LOOK_EVERY_MS, ending);
    }
    await Promise.all([own, ...Array.from(this.#sources.values(), ({ following }) => following.stop())]);
    if (!signal.aborted && fault !== undefined) throw fault;
  }

  /** Begins with sources that are new, and ends with those that are gone or others now. */
  async #look(end: (error: unknown) => void): Promise<void> {
    const { keys } = this.#options;
    const collections = (await this.#tables.listCollections()).filter(hasSource);
    const found = new Map(collections.map((collection) => [keys.scope(collection), collection]));
    for (const [scope, { collection, following }] of this.#sources) {
      if (isSame(collection, found.get(scope))) continue;
      this.#sources.delete(scope);
      await following.stop();
    }
    for (const scope of this.#parts.sources) if (!found.has(scope)) await this.#parts.drop(scope);
    for (const [scope, collection] of found) {
      if (this.#sources.has(scope)) continue;
      const following = inBackground((signal) => this.#follow(collection, signal).catch(end));
      this.#sources.set(scope, { collection, following });
    }
    this.#knowsSources = true;
  }

  #follow(collection: SourceCollection, signal: AbortSignal): Promise<void> {
    const { database } = this.#backend;
    const log = sourceLog(this.#options.log, collection);
    const { stream, state } = sourceParts(this.#backend, collection, log);
    const source = openSourceIndex({ database, collection, stream, load: () => state.load(), signal });
    const engine = this.#parts.source(database.keys.scope(collection));
    return new IndexFollower({ ...this.#options, ...source, log, engine, pollMs: SOURCE_POLL_MS }).run(signal);
  }
}

const isSame = (one: SourceCollection, other: Collection | undefined) =>
  one.createdAt === other?.createdAt && one.rankBy === other.rankBy && isDeepStrictEqual(one.source, other.source);
