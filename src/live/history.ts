import type { ServerClock } from '../clock.js';
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
  #completeFrom: number;

  /** Every event written at `completeFrom` or later will be added. */
  constructor(maxBytes: number, completeFrom = Infinity) {
    this.#maxBytes = maxBytes;
    this.#completeFrom = completeFrom;
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

  /** Every event written at `from` or later is in the buffer or will be added, whatever was known before. */
  knowFrom(from: number): void {
    this.#completeFrom = Math.min(this.#completeFrom, from);
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
  readonly clock: Pick<ServerClock, 'now' | 'wall' | 'bounds' | 'sleep'>;
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
/** Times of records are truncated to the second, by clocks that may differ from DynamoDB's by about as much. */
const ROUNDING_MS = 2_000;
/** On a server that keeps up, counts follow a change within this time. */
const COUNTED_WITHIN_MS = 10_000;

/** A time, in milliseconds since 1970, that is written in no record before now. */
export function completeAfter(clock: Pick<ServerClock, 'bounds'>): number {
  return Math.ceil((clock.bounds().latest + ROUNDING_MS) / 1_000) * 1_000;
}

/** Recent events of this process, extended into the past by reading the stream when a client asks for more. */
export class History {
  readonly #options: HistoryOptions;
  readonly #memoryBytes: number;
  #recent: RecentEvents;
  /** When it began, by the clock of this process and by DynamoDB's; undefined while events are missed. */
  #begun: { readonly at: number; readonly earliest: number; readonly latest: number } | undefined;
  #extending: Promise<void> | undefined;
  /** When the next attempt to extend may begin, by the clock of this process. */
  #extendAfter = -Infinity;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#memoryBytes = options.memoryBytes ?? MEMORY_BYTES;
    this.#recent = new RecentEvents(this.#memoryBytes);
  }

  /** Whether every new event is added. */
  get isOpen(): boolean {
    return this.#begun !== undefined;
  }

  /** The time since which every event is known, in milliseconds since 1970; Infinity if there is no such time. */
  get completeFrom(): number {
    // DynamoDB's time may have been less clear when it began.
    if (this.isOpen) this.#recent.knowFrom(completeAfter(this.#options.clock));
    return this.#recent.completeFrom;
  }

  /** Adds a new event; returns its approximate size in bytes. */
  add(event: LiveEvent): number {
    return this.#recent.add(event);
  }

  /** Events of a collection that may have been written at `from` or later, in order of arrival. */
  since(from: number, scope: string): LiveEvent[] {
    const { earliest = from, latest = -Infinity } = this.#begun ?? {};
    // To whom the time of the beginning was told as that of a map: they get all since.
    return this.#recent.since(Math.floor((from <= latest ? Math.min(from, earliest) : from) / 1_000) * 1_000, scope);
  }

  /** Clears the buffer; from now on, every event will be added. */
  begin(): void {
    const { clock } = this.#options;
    const latest = completeAfter(clock);
    this.#restart(latest);
    this.#begun = { at: clock.now(), earliest: clock.bounds().earliest - ROUNDING_MS, latest };
  }

  /** Clears the buffer, because events may have been missed. */
  end(): void {
    this.#restart(Infinity);
  }

  #restart(from: number): void {
    this.#recent = new RecentEvents(this.#memoryBytes, from);
    this.#begun = undefined;
    this.#extendAfter = -Infinity;
  }

  /** For how many milliseconds every event has been added. */
  get age(): number {
    return this.#options.clock.now() - (this.#begun?.at ?? Infinity);
  }

  /** Whether maps that are so far behind show everything that was written before it began. */
  isShown(behindMs: number): boolean {
    return behindMs <= this.age;
  }

  /** A time (milliseconds since 1970) such that maps which are so far behind lack only events since then. */
  fromMap(behindMs: number): number {
    const from = this.#options.clock.bounds().earliest - Math.max(COUNTED_WITHIN_MS, behindMs);
    const { earliest, latest } = this.#begun ?? { earliest: 0, latest: 0 };
    // Unless DynamoDB's time was unclear then, that time is known without a read of the stream.
    const isKnown = this.completeFrom <= latest && latest - earliest <= 2 * COUNTED_WITHIN_MS;
    return isKnown && this.isShown(behindMs) ? Math.max(from, latest) : from;
  }

  /** Reads all records still in the stream, once for all waiting clients, unless that was tried recently. */
  async extend(): Promise<void> {
    const { readStream, clock } = this.#options;
    if (readStream === undefined || (this.#extending === undefined && clock.now() < this.#extendAfter)) return;
    await (this.#extending ??= this.#readBack(readStream).finally(() => {
      this.#extending = undefined;
    }));
  }

  async #readBack(readStream: NonNullable<HistoryOptions['readStream']>): Promise<void> {
    const { keys, clock } = this.#options;
    const recent = this.#recent;
    const { completeFrom } = recent;
    this.#extendAfter = clock.now() + RETRY_AFTER_MS;
    const found = new RecentEvents(this.#memoryBytes, 0);
    const from = await readStream((record) => {
      const event = eventOf(keys, record);
      if (event !== undefined && event.at < completeFrom) found.add(event);
    });
    // If the buffer was cleared or has evicted events in between, the two may not be contiguous.
    if (from === undefined || this.#recent !== recent || recent.completeFrom > completeFrom) return;
    recent.addEarlier(found.since(0), Math.max(from, found.completeFrom));
    // Records that are missing now will not appear later.
    this.#extendAfter = Infinity;
  }
}
