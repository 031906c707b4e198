import type { Keyspace } from '../keys/keyspace.js';
import type { StreamRecord } from '../stream/change.js';
import { eventBytes, eventOf, type LiveEvent } from './change.js';

interface Entry {
  readonly event: LiveEvent;
  readonly bytes: number;
}

/**
 * The latest time at which an event may have been written. Times are truncated to the second, or by DynamoDB Local to
 * the minute, which looks the same as a time that happens to be a whole minute.
 */
const writtenBy = ({ at }: LiveEvent) => at + (at % 60_000 === 0 ? 59_999 : 999);

/** The latest events of this process, about `maxBytes` of them, for clients that reconnect. */
export class RecentEvents {
  readonly #maxBytes: number;
  #entries: Entry[] = [];
  /** Entries before it have been evicted. */
  #first = 0;
  #bytes = 0;
  #completeFrom = Infinity;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The time since which every event is known, in milliseconds since 1970; Infinity if there is no such time. */
  get completeFrom(): number {
    return this.#completeFrom;
  }

  /** Adds a new event; returns its approximate size in bytes. */
  add(event: LiveEvent): number {
    const bytes = eventBytes(event);
    this.#entries.push({ event, bytes });
    this.#bytes += bytes;
    this.#evict();
    return bytes;
  }

  /** Adds older events before all others: all events written at `from` or later, up to those already in the buffer. */
  addEarlier(events: readonly LiveEvent[], from: number): void {
    const older = events.map((event) => ({ event, bytes: eventBytes(event) }));
    this.#entries = [...older, ...this.#entries.slice(this.#first)];
    this.#first = 0;
    this.#bytes += older.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#completeFrom = from;
    this.#evict();
  }

  /** Events that may have been written at `from` or later, of one collection or of all, in order of arrival. */
  since(from: number, scope?: string): LiveEvent[] {
    const found: LiveEvent[] = [];
    for (let index = this.#first; index < this.#entries.length; index += 1) {
      const event = this.#entries[index]?.event;
      if (event !== undefined && writtenBy(event) >= from && (scope ?? event.scope) === event.scope) found.push(event);
    }
    return found;
  }

  /** Clears the buffer; every event written at `from` or later will be added. */
  restart(from: number): void {
    this.#entries = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#completeFrom = from;
  }

  #evict(): void {
    for (; this.#bytes > this.#maxBytes && this.#first < this.#entries.length; this.#first += 1) {
      const entry = this.#entries[this.#first];
      if (entry === undefined) break;
      this.#bytes -= entry.bytes;
      this.#completeFrom = Math.max(this.#completeFrom, writtenBy(entry.event) + 1);
    }
    // Compacted rarely, so that an eviction is cheap on average.
    if (this.#first > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}

export interface HistoryOptions {
  readonly keys: Keyspace;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Calls back with all records still in the stream. Returns the time (milliseconds since 1970) since which none is
   * missing, or undefined if not all of them could be read.
   */
  readonly readStream?: ((onRecord: (record: StreamRecord) => void) => Promise<number | undefined>) | undefined;
  readonly memoryBytes?: number | undefined;
}

const MEMORY_BYTES = 32 * 1024 * 1024;
/** A failed read of the stream takes 20 s, so it is not retried for each client. */
const RETRY_AFTER_MS = 60_000;

/** Recent events of this process, extended into the past by reading the stream when a client asks for more. */
export class History {
  readonly #options: HistoryOptions;
  readonly #memoryBytes: number;
  readonly #recent: RecentEvents;
  #extending: Promise<void> | undefined;
  /** Earliest time for the next attempt to extend. */
  #extendAfter = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#memoryBytes = options.memoryBytes ?? MEMORY_BYTES;
    this.#recent = new RecentEvents(this.#memoryBytes);
  }

  /** Adds a new event; returns its approximate size in bytes. */
  add(event: LiveEvent): number {
    return this.#recent.add(event);
  }

  /** Events of a collection that may have been written at `from` or later, in order of arrival. */
  since(from: number, scope: string): LiveEvent[] {
    return this.#recent.since(from, scope);
  }

  /** The time since which every event is known, in milliseconds since 1970; Infinity if there is no such time. */
  get completeFrom(): number {
    return this.#recent.completeFrom;
  }

  /** Clears the buffer; every event written at `from` or later will be added. */
  restart(from: number): void {
    this.#recent.restart(from);
    this.#extendAfter = 0;
  }

  /** Reads all records still in the stream, once for all waiting clients, unless that was tried recently. */
  async extend(): Promise<void> {
    const { readStream, now } = this.#options;
    if (readStream === undefined || (this.#extending === undefined && now() < this.#extendAfter)) return;
    await (this.#extending ??= this.#readBack(readStream).finally(() => {
      this.#extending = undefined;
    }));
  }

  async #readBack(readStream: NonNullable<HistoryOptions['readStream']>): Promise<void> {
    const { keys, now } = this.#options;
    const completeFrom = this.completeFrom;
    this.#extendAfter = now() + RETRY_AFTER_MS;
    const found = new RecentEvents(this.#memoryBytes);
    found.restart(0);
    const from = await readStream((record) => {
      const event = eventOf(keys, record);
      if (event !== undefined && event.at < completeFrom) found.add(event);
    });
    // If the buffer was cleared or has evicted events in between, the two may not be contiguous.
    if (from === undefined || this.completeFrom !== completeFrom) return;
    this.#recent.addEarlier(found.since(0), Math.max(from, found.completeFrom));
    // Records that are missing now will not appear later.
    this.#extendAfter = Infinity;
  }
}
