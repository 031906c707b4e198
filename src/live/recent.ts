import { type LiveEvent, eventBytes } from './change.js';

/** The latest events of this process, bounded in bytes, for clients that reconnect. */
export interface RecentEvents {
  /** Adds a new event; returns its approximate size in bytes. */
  add(event: LiveEvent): number;
  /** Adds older events before all others: all events written at `from` or later, up to those already in the buffer. */
  addEarlier(events: readonly LiveEvent[], from: number): void;
  /** Events that may have been written at `from` or later, of one collection or of all, in order of arrival. */
  since(from: number, scope?: string): LiveEvent[];
  /** The time since which every event is known, in milliseconds since 1970; Infinity if there is no such time. */
  completeFrom(): number;
  /** Clears the buffer; every event written at `from` or later will be added. */
  restart(from: number): void;
}

interface Entry {
  readonly event: LiveEvent;
  readonly bytes: number;
}

/**
 * The latest time at which an event may have been written. Times are truncated to the second, or by DynamoDB Local to
 * the minute, which looks the same as a time that happens to be a whole minute.
 */
const writtenBy = ({ at }: LiveEvent) => at + (at % 60_000 === 0 ? 59_999 : 999);

/** Creates a buffer of about `maxBytes`. */
export function createRecentEvents(maxBytes: number): RecentEvents {
  let entries: Entry[] = [];
  /** Entries before it have been evicted. */
  let first = 0;
  let bytes = 0;
  let completeFrom = Infinity;

  function evict(): void {
    for (; bytes > maxBytes && first < entries.length; first += 1) {
      const entry = entries[first];
      if (entry === undefined) break;
      bytes -= entry.bytes;
      completeFrom = Math.max(completeFrom, writtenBy(entry.event) + 1);
    }
    // Compacted rarely, so that an eviction is cheap on average.
    if (first > entries.length / 2) {
      entries = entries.slice(first);
      first = 0;
    }
  }

  return {
    add(event) {
      const size = eventBytes(event);
      entries.push({ event, bytes: size });
      bytes += size;
      evict();
      return size;
    },
    addEarlier(earlier, from) {
      const older = earlier.map((event) => ({ event, bytes: eventBytes(event) }));
      entries = [...older, ...entries.slice(first)];
      first = 0;
      bytes += older.reduce((sum, entry) => sum + entry.bytes, 0);
      completeFrom = from;
      evict();
    },
    since(from, scope) {
      const found: LiveEvent[] = [];
      for (let index = first; index < entries.length; index += 1) {
        const event = entries[index]?.event;
        if (event !== undefined && writtenBy(event) >= from && (scope ?? event.scope) === event.scope)
          found.push(event);
      }
      return found;
    },
    completeFrom: () => completeFrom,
    restart(from) {
      entries = [];
      first = 0;
      bytes = 0;
      completeFrom = from;
    },
  };
}
