import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

import { CellportError, badInput } from '../errors.js';
import type { Area } from '../geo/bounds.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import { type StreamRecord, isAfter } from '../stream/change.js';
import {
  type LiveEvent,
  type MarkerChange,
  type MarkerEvent,
  type ReadingEvent,
  type RecordedReading,
  changeKind,
  eventOf,
  readingOf,
  toldChange,
  toldReading,
} from './change.js';
import { type Queue, type QueueLimits, createQueue } from './queue.js';
import { createRecentEvents } from './recent.js';
import { type Watchers, createWatchers } from './watchers.js';

/** What subscriptions are answered from. */
export interface LiveChanges {
  /**
   * Changes of a collection's markers, of those in an area where one is given; from `since` on (milliseconds since 1970)
   * where that is given. Throws BAD_USER_INPUT where not all since then can be told, UNAVAILABLE where none can.
   */
  markerChanges(wanted: MarkersWanted): Promise<AsyncIterableIterator<MarkerChange>>;
  /** Readings of one marker; the rest as above. */
  readings(wanted: ReadingsWanted): Promise<AsyncIterableIterator<RecordedReading>>;
  /**
   * A moment up to 10 s ago (milliseconds since 1970) from which on all changes are told for `since`, at no cost, once they
   * are heard; undefined where they are not within 5 s. What counts and indexes do not tell yet has changed since then.
   */
  recentFrom(): Promise<number | undefined>;
}

export interface MarkersWanted {
  readonly collection: Collection;
  readonly area: Area | undefined;
  readonly since: number | undefined;
}

export interface ReadingsWanted {
  readonly collection: Collection;
  readonly marker: Marker;
  readonly since: number | undefined;
}

/** Takes in the records of a stream and tells them to all whom they concern. */
export interface LiveHub extends LiveChanges {
  /** A record. Those of one item come in their order; one that came before is left out. */
  take(record: StreamRecord): void;
  /** From this moment on every record is taken in. */
  hearing(): void;
  /** Some may have been missed: ends all subscriptions with the reason, and waits to hear again. */
  lost(reason: string): void;
  /** Ends all subscriptions for good. */
  close(): void;
}

export interface HubOptions {
  readonly keys: Keyspace;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Tells of all records that the stream still holds; gives a time from which on none was missing, in milliseconds since
   * 1970, or undefined where they could not all be read.
   */
  readonly readStream?: (onRecord: (record: StreamRecord) => void) => Promise<number | undefined>;
  readonly memoryBytes?: number;
  readonly queueLimits?: QueueLimits;
}

interface Watcher {
  readonly area: Area | undefined;
  readonly queue: Queue<MarkerChange>;
  readonly collection: string;
}

const MEMORY_BYTES = 32 * 1024 * 1024;
/** Items whose last record is remembered, so that it is not told again. */
const ITEMS_KNOWN = 50_000;
/** Times of records are cut to the second, by clocks that may differ from ours by about as much. */
const ROUNDING_MS = 2_000;
/** How long a new subscription waits for the stream to be heard. */
const HEARD_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;
/** Counts follow a change sooner than this, on a server that keeps up. */
const COUNTED_WITHIN_MS = 10_000;
/** Reading the stream in vain takes long enough not to be repeated for each client. */
const REACH_AGAIN_MS = 60_000;

const nameOf = ({ scope, key }: { readonly scope: string; readonly key: string }) => `${scope}\n${key}`;
const instant = (milliseconds: number) => new Date(milliseconds).toISOString();

/** A hub that hears nothing yet. */
export function createHub(options: HubOptions): LiveHub {
  const { keys, log, now, readStream, memoryBytes = MEMORY_BYTES, queueLimits } = options;
  const recent = createRecentEvents(memoryBytes);
  const latest = new LRUCache<string, string>({ max: ITEMS_KNOWN });
  const markers = new Map<string, Watchers<Watcher>>();
  const readings = new Map<string, Set<Queue<RecordedReading>>>();
  const queues = new Set<Pick<Queue<unknown>, 'end'>>();
  let hears = false;
  let closed: CellportError | undefined;
  let reaching: Promise<void> | undefined;
  /** When the memory may be made to reach further back. */
  let reachAgainAt = 0;

  /** Whether the item's records up to this one were taken in already. */
  function isKnown({ keys: { pk, sk }, sequence }: StreamRecord): boolean {
    const item = `${String(pk?.['S'])}\n${String(sk?.['S'])}`;
    const last = latest.get(item);
    if (last !== undefined && !isAfter(sequence, last)) return true;
    latest.set(item, sequence);
    return false;
  }

  function tellMarker(event: MarkerEvent, bytes: number): void {
    for (const { area, queue, collection } of markers.get(event.scope)?.near(event) ?? []) {
      const kind = changeKind(event, area);
      if (kind !== undefined) queue.push(toldChange(keys, event, kind, collection), bytes);
    }
  }

  function tellReading(event: ReadingEvent, bytes: number): void {
    const watching = readings.get(nameOf(event));
    const told = watching && toldReading(event, now());
    if (told === undefined) return;
    for (const queue of watching ?? []) queue.push(told, bytes);
  }

  function endAll(reason: CellportError): void {
    for (const queue of queues) queue.end(reason);
  }

  /** Reads what the stream still holds, so that the memory reaches back as far as it can. */
  async function reachBack(read: NonNullable<HubOptions['readStream']>): Promise<void> {
    const completeFrom = recent.completeFrom();
    reachAgainAt = now() + REACH_AGAIN_MS;
    const found = createRecentEvents(memoryBytes);
    found.restart(0);
    const from = await read((record) => {
      const event = eventOf(keys, record);
      if (event !== undefined && event.at < completeFrom) found.add(event);
    });
    // Where the memory has begun anew or forgotten something meanwhile, there may be a hole between the two.
    if (from === undefined || recent.completeFrom() !== completeFrom) return;
    recent.addEarlier(found.since(0), Math.max(from, found.completeFrom()));
    // What is not there now will not be there later.
    reachAgainAt = Infinity;
  }

  async function untilHeard(): Promise<void> {
    for (const until = now() + HEARD_WITHIN_MS; !hears && closed === undefined && now() < until;) {
      await sleep(LOOK_EVERY_MS);
    }
    if (closed !== undefined) throw closed;
    if (!hears) throw new CellportError('UNAVAILABLE', 'changes cannot be heard at the moment; try again in a while');
  }

  async function recentFrom(): Promise<number | undefined> {
    try {
      await untilHeard();
    } catch {
      return undefined;
    }
    return Math.ceil(Math.max(recent.completeFrom(), now() - COUNTED_WITHIN_MS) / 1_000) * 1_000;
  }

  /** Whether all since a moment is remembered; of moments to come that is always so. */
  const covers = (from: number) => from >= recent.completeFrom() || (hears && from > now());

  async function cover(from: number): Promise<void> {
    if (!covers(from) && readStream !== undefined && (reaching !== undefined || now() >= reachAgainAt)) {
      await (reaching ??= reachBack(readStream).finally(() => {
        reaching = undefined;
      }));
    }
  }

  /**
   * A queue that begins with what is remembered since a moment. `join` has what comes put into it, in the same tick, and
   * gives how to leave again.
   */
  async function open<T>(
    scope: string,
    since: number | undefined,
    tell: (event: LiveEvent) => T | undefined,
    join: (queue: Queue<T>) => () => void,
  ): Promise<AsyncIterableIterator<T>> {
    await untilHeard();
    const from = since === undefined ? Infinity : Math.floor(since / 1_000) * 1_000;
    await cover(from);
    if (closed !== undefined) throw closed;
    if (!covers(from)) {
      const earliest = hears ? `${instant(Math.min(recent.completeFrom(), now()))} or later` : 'left out for now';
      throw badInput('since', instant(from), `${earliest}, as what was before is not known here: read the map anew`);
    }
    function* missed(events: readonly LiveEvent[]) {
      for (const event of events) {
        const told = tell(event);
        if (told !== undefined) yield told;
      }
    }
    let leave: () => void = () => undefined;
    const queue: Queue<T> = createQueue<T>(
      () => {
        queues.delete(queue);
        leave();
      },
      missed(since === undefined ? [] : recent.since(from, scope)),
      queueLimits,
    );
    queues.add(queue);
    leave = join(queue);
    return queue.reader;
  }

  function hearing(): void {
    if (hears) return;
    hears = true;
    reachAgainAt = 0;
    recent.restart(Math.ceil((now() + ROUNDING_MS) / 1_000) * 1_000);
  }

  function lost(reason: string): void {
    hears = false;
    latest.clear();
    recent.restart(Infinity);
    const advice = 'subscribe again, with `since` to be told what was missed';
    endAll(new CellportError('UNAVAILABLE', `changes may have been missed (${reason}): ${advice}`));
  }

  return {
    hearing,
    lost,
    recentFrom,

    take(record) {
      try {
        const event = eventOf(keys, record);
        if (closed !== undefined || event === undefined || isKnown(record)) return;
        const bytes = recent.add(event);
        if (event.type === 'marker') tellMarker(event, bytes);
        else tellReading(event, bytes);
      } catch (err) {
        // Whoever reads the stream has other things to do with it than to fail for this.
        log.error({ err, keys: record.keys }, 'a record of the stream could not be told');
        lost('a record could not be understood');
        hearing();
      }
    },

    close() {
      closed = new CellportError('UNAVAILABLE', 'the server is being stopped: subscribe again, with `since`');
      recent.restart(Infinity);
      endAll(closed);
    },

    async markerChanges({ collection, area, since }) {
      const scope = keys.scope(collection);
      const tell = (event: LiveEvent) => {
        if (event.type !== 'marker') return undefined;
        const kind = changeKind(event, area);
        return kind && toldChange(keys, event, kind, collection.key);
      };
      return open(scope, since, tell, (queue) => {
        const watcher = { area, queue, collection: collection.key };
        const watching = markers.get(scope) ?? createWatchers<Watcher>();
        markers.set(scope, watching);
        watching.add(watcher, area);
        return () => {
          watching.remove(watcher, area);
          if (watching.isEmpty()) markers.delete(scope);
        };
      });
    },

    async readings({ collection, marker, since }) {
      const scope = keys.scope(collection);
      const name = nameOf({ scope, key: marker.key });
      const tell = (event: LiveEvent) => {
        if (event.type !== 'reading' || event.key !== marker.key) return undefined;
        return (readingOf(event) ?? marker.life) === marker.life ? toldReading(event, now()) : undefined;
      };
      return open<RecordedReading>(scope, since, tell, (queue) => {
        const watching = readings.get(name) ?? new Set();
        readings.set(name, watching);
        watching.add(queue);
        return () => {
          watching.delete(queue);
          if (watching.size === 0) readings.delete(name);
        };
      });
    },
  };
}
