import { LRUCache } from 'lru-cache';

import { badInput, CellportError } from '../errors.js';
import type { Area } from '../geo/bounds.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import { isAfter, type StreamRecord } from '../stream/change.js';
import {
  deletedCollection,
  earliestMarker,
  eventOf,
  incarnationOf,
  isSince,
  markerChange,
  recordedReading,
  type LiveEvent,
  type MarkerChange,
  type RecordedReading,
} from './change.js';
import { History, type HistoryOptions } from './history.js';
import { Listeners, missedError } from './listeners.js';
import { Queue, type QueueLimits } from './queue.js';

/** What answers subscriptions. */
export interface LiveChanges {
  /**
   * Changes of a collection's markers, of those in an area if one is given; since `since` (milliseconds since 1970) if that
   * is given. Throws BAD_USER_INPUT if not all changes since then are known, UNAVAILABLE if none can be emitted.
   */
  markerChanges(wanted: MarkersWanted): Promise<AsyncIterableIterator<MarkerChange>>;
  /** Readings of one marker, until it leaves the principal's rows if there are such; the rest as above. */
  readings(wanted: ReadingsWanted): Promise<AsyncIterableIterator<RecordedReading>>;
  /**
   * A moment (milliseconds since 1970) for `since`: what maps and counts do not show yet has changed since then, given by how
   * many milliseconds they are behind. Undefined if that is more than a minute, or changes do not arrive within 5 s.
   */
  recentFrom(behindMs?: () => number): Promise<number | undefined>;
}

export interface MarkersWanted {
  readonly collection: Collection;
  readonly area: Area | undefined;
  readonly since: number | undefined;
  /** A time in milliseconds since 1970 before which no change is known, if that is another one than of most collections. */
  readonly knownSince?: number | undefined;
}

export interface ReadingsWanted {
  readonly collection: Collection;
  readonly marker: Marker;
  readonly since: number | undefined;
}

export interface HubOptions extends HistoryOptions {
  readonly log: Log;
  readonly queueLimits?: QueueLimits;
}

/** What a new queue needs to know. */
interface Subscription<T> {
  readonly collection: Collection;
  readonly since: number | undefined;
  readonly knownSince?: number | undefined;
  /** What the client gets of an event. */
  readonly emit: (event: LiveEvent) => T | undefined;
  /** Starts to add events to the queue, in the same tick; returns the function that stops it. */
  readonly join: (queue: Queue<T>) => () => void;
}

/** Memory for the last record of items, so that it is not emitted again. */
const ITEMS_BYTES = 8 * 1024 * 1024;
/** Memory for deleted collections. A server trusts its copy of a collection for two seconds. */
const DELETED_BYTES = 1024 * 1024;
/** The memory of two texts in a cache. */
const sizeCalculation = (value: string, name: string) => 250 + value.length + 2 * name.length;
/** How long a new subscription waits for the stream to be connected. */
const CONNECTED_WITHIN_MS = 5_000;
const POLL_MS = 50;
/** Maps that are further behind are not continued: the changes that they lack may be too many to read back. */
const MOST_BEHIND_MS = 60_000;
/** Moments that servers and clients mean may be ahead of ours by this. */
const AHEAD_MS = 5_000;

const instant = (milliseconds: number) => new Date(milliseconds).toISOString();

const hasBeenDeleted = (key: string) =>
  new CellportError('NOT_FOUND', `collection ${JSON.stringify(key)} has been deleted`, { collection: key });

/** Receives the records of a stream and emits them to all clients that they concern. It begins without a connection. */
export class LiveHub implements LiveChanges {
  readonly #options: HubOptions;
  readonly #history: History;
  /** Sequence number of the last record of each item. */
  readonly #latest = new LRUCache<string, string>({ maxSize: ITEMS_BYTES, sizeCalculation });
  readonly #listeners: Listeners;
  /** When collections were created that have been deleted since, by key. */
  readonly #deleted = new LRUCache<string, string>({ maxSize: DELETED_BYTES, sizeCalculation });
  /** What waits for all clients. */
  readonly #waiting = { bytes: 0 };
  #closed: CellportError | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#history = new History(options);
    const { keys, clock, log } = options;
    this.#listeners = new Listeners({ keys, now: () => clock.wall(), log });
  }

  /** Takes a record. Those of one item arrive in order; duplicates are ignored. */
  take(record: StreamRecord): void {
    const { keys, log } = this.#options;
    try {
      const event = eventOf(keys, record);
      if (event === undefined) this.#endDeleted(record);
      if (this.#closed !== undefined || event === undefined || this.#isRepeated(record)) return;
      const bytes = this.#history.add(event);
      if (event.type === 'marker') this.#listeners.emitMarker(event, bytes);
      else this.#listeners.emitReading(event, bytes);
    } catch (err) {
      // The reader of the stream has other work that must not fail because of this.
      log.error({ err, keys: record.keys }, 'Cannot emit a record of the stream');
      this.disconnected('a record could not be understood');
      this.connected();
    }
  }

  /** Ends the subscriptions to a collection that this record deletes: another may be created with its key. */
  #endDeleted(record: StreamRecord): void {
    const deleted = deletedCollection(this.#options.keys, record);
    if (deleted === undefined) return;
    this.#deleted.set(deleted.key, deleted.createdAt);
    // Readings of the next one with its key may come from another table, whose sequence numbers are others.
    this.#latest.clear();
    this.#listeners.end(hasBeenDeleted(deleted.key), deleted);
  }

  /** Whether this record of the item, or a later one, was received already. */
  #isRepeated({ keys: { pk, sk }, sequence }: StreamRecord): boolean {
    const item = `${String(pk?.['S'])}\n${String(sk?.['S'])}`;
    const last = this.#latest.get(item);
    if (last !== undefined && !isAfter(sequence, last)) return true;
    this.#latest.set(item, sequence);
    return false;
  }

  /** From now on every record is received. */
  connected(): void {
    if (!this.#history.isOpen) this.#history.begin();
  }

  /** Some records may have been missed: ends all subscriptions with the reason, until `connected` is called again. */
  disconnected(reason: string): void {
    this.#latest.clear();
    this.#history.end();
    this.#listeners.end(missedError(reason));
  }

  /** Whether anyone subscribes to a collection. */
  isHeard(collection: Pick<Collection, 'key'>): boolean {
    return this.#listeners.has(collection);
  }

  /** Some changes of one collection may have been missed: ends its subscriptions with the reason. */
  missed(collection: Collection, reason: string): void {
    this.#listeners.end(missedError(reason), collection);
  }

  /** Ends all subscriptions for good. */
  close(): void {
    this.#closed = new CellportError('UNAVAILABLE', 'the server is shutting down: subscribe again, with `since`');
    this.#history.end();
    this.#listeners.end(this.#closed);
  }

  /** Waits up to some seconds. */
  async #waitFor(isDone: () => boolean): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + CONNECTED_WITHIN_MS;
    while (!isDone() && this.#closed === undefined && clock.now() < until) await clock.sleep(POLL_MS);
    if (this.#closed !== undefined) throw this.#closed;
  }

  async #untilConnected(): Promise<void> {
    await this.#waitFor(() => this.#history.isOpen);
    if (!this.#history.isOpen)
      throw new CellportError('UNAVAILABLE', 'live changes are not available; try again later');
  }

  async recentFrom(behindMs: () => number = () => 0): Promise<number | undefined> {
    try {
      // Afterwards, maps are as late as they stay for now.
      await this.#waitFor(() => this.#history.isShown(behindMs()) || this.#history.age > CONNECTED_WITHIN_MS);
    } catch {
      return undefined;
    }
    const behind = behindMs();
    const from = Math.ceil(this.#history.fromMap(behind) / 1_000) * 1_000;
    return this.#history.isOpen && behind <= MOST_BEHIND_MS && from > 0 ? from : undefined;
  }

  /** A queue that begins with what is known since a moment. */
  async #open<T>({
    collection,
    since,
    knownSince = 0,
    emit,
    join,
  }: Subscription<T>): Promise<AsyncIterableIterator<T>> {
    const { keys, log } = this.#options;
    await this.#untilConnected();
    const history = this.#history;
    const from = since ?? Infinity;
    if (from < history.completeFrom) await history.extend();
    if (this.#closed !== undefined) throw this.#closed;
    // The collection may have been read before its deletion, and the record of that may be known already.
    if (this.#deleted.has(collection.key) && this.#deleted.get(collection.key) === collection.createdAt) {
      throw hasBeenDeleted(collection.key);
    }
    const earliest = Math.max(history.completeFrom, knownSince);
    if (from < earliest) {
      const allowed = earliest === Infinity ? 'omitted for now' : `${instant(earliest)} or later`;
      throw badInput('since', instant(from), `${allowed}, because earlier changes are not known: reload the map`);
    }
    // By a clock that is wrong: nobody can know everything until then.
    const latest = Math.max(earliest, this.#options.clock.bounds().latest + AHEAD_MS);
    if (since !== undefined && from > latest) throw badInput('since', instant(from), `${instant(latest)} or earlier`);
    function* missed(events: readonly LiveEvent[]) {
      try {
        for (const event of events) {
          const value = emit(event);
          if (value !== undefined) yield value;
        }
      } catch (err) {
        if (!(err instanceof CellportError)) log.error({ err }, 'Cannot emit a recent record of the stream');
        queue.end(err instanceof CellportError ? err : missedError('a record could not be understood'));
      }
    }
    let leave: () => void = () => undefined;
    const queue: Queue<T> = new Queue<T>(
      () => {
        this.#listeners.remove(queue);
        leave();
      },
      missed(since === undefined ? [] : history.since(since, keys.scope(collection))),
      this.#options.queueLimits,
      this.#waiting,
    );
    this.#listeners.add(queue, collection);
    leave = join(queue);
    return queue;
  }

  async markerChanges({
    collection,
    area,
    since,
    knownSince,
  }: MarkersWanted): Promise<AsyncIterableIterator<MarkerChange>> {
    const { keys } = this.#options;
    const scope = keys.scope(collection);
    const earliest = earliestMarker(collection);
    const emit = (event: LiveEvent) => {
      if (event.type !== 'marker' || !isSince(event, earliest)) return undefined;
      return markerChange(keys, event, collection, area);
    };
    const join = (queue: Queue<MarkerChange>) =>
      this.#listeners.watchMarkers(scope, { area, queue, collection, earliest });
    return this.#open({ collection, since, knownSince, emit, join });
  }

  async readings({ collection, marker, since }: ReadingsWanted): Promise<AsyncIterableIterator<RecordedReading>> {
    const { clock } = this.#options;
    const emit = (event: LiveEvent) => {
      if (event.type !== 'reading' || event.key !== marker.key) return undefined;
      return (incarnationOf(event) ?? marker.incarnation) === marker.incarnation
        ? recordedReading(event, clock.wall())
        : undefined;
    };
    const join = (queue: Queue<RecordedReading>) => this.#listeners.watchReadings(collection, marker, queue);
    return this.#open({ collection, since, emit, join });
  }
}
