import { CellportError, notFound } from '../errors.js';
import { canonicalLng, type Area, type Point } from '../geo/bounds.js';
import { markerId } from '../keys/ids.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { Collection } from '../model/collection.js';
import type { Marker } from '../model/marker.js';
import {
  incarnationOf,
  isSince,
  markerChange,
  recordedReading,
  type MarkerChange,
  type MarkerEvent,
  type Move,
  type ReadingEvent,
  type RecordedReading,
} from './change.js';
import { hasInRows } from './images.js';
import type { Queue } from './queue.js';

/** Squares of one degree, counted from -180, -90. */
const COLUMNS = 360;
const ROWS = 180;
/** A watcher with more squares than this is checked for every change. */
const MOST_SQUARES = 64;

const columnOf = (lng: number) => Math.min(COLUMNS - 1, Math.floor(lng) + 180);
const rowOf = (lat: number) => Math.min(ROWS - 1, Math.floor(lat) + 90);
const squareOf = ({ lng, lat }: Point) => rowOf(lat) * COLUMNS + columnOf(canonicalLng(lng));

/** The squares that an area touches; undefined if there are too many. */
function squaresOf(area: Area | undefined): number[] | undefined {
  if (area === undefined) return undefined;
  const squares: number[] = [];
  for (const { west, south, east, north } of area.parts) {
    const [left, right, low, high] = [columnOf(west), columnOf(east), rowOf(south), rowOf(north)];
    if ((right - left + 1) * (high - low + 1) > MOST_SQUARES) return undefined;
    for (let row = low; row <= high; row += 1) {
      for (let column = left; column <= right; column += 1) squares.push(row * COLUMNS + column);
    }
  }
  return squares;
}

/** The watchers of a collection's markers, found by the position of a change. */
export class Watchers<W> {
  readonly #everywhere = new Set<W>();
  readonly #bySquare = new Map<number, Set<W>>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(watcher: W, area: Area | undefined): void {
    this.#count += 1;
    const squares = squaresOf(area);
    if (squares === undefined) this.#everywhere.add(watcher);
    for (const square of squares ?? []) {
      const here = this.#bySquare.get(square);
      if (here === undefined) this.#bySquare.set(square, new Set([watcher]));
      else here.add(watcher);
    }
  }

  remove(watcher: W, area: Area | undefined): void {
    this.#count -= 1;
    this.#everywhere.delete(watcher);
    for (const square of squaresOf(area) ?? []) {
      const here = this.#bySquare.get(square);
      here?.delete(watcher);
      if (here?.size === 0) this.#bySquare.delete(square);
    }
  }

  /** All watchers whose rectangles may contain one of these positions, each once; possibly some others. */
  near({ before, after }: Move): Set<W> {
    const found = new Set(this.#everywhere);
    for (const point of [before, after]) {
      if (point === undefined) continue;
      for (const watcher of this.#bySquare.get(squareOf(point)) ?? []) found.add(watcher);
    }
    return found;
  }
}

/** A subscription to the markers of a collection. */
export interface Watcher {
  readonly area: Area | undefined;
  readonly queue: Queue<MarkerChange>;
  readonly collection: Collection;
  /** See `earliestMarker`. */
  readonly earliest: string;
}

/** What the readings of a subscription are of. */
interface Subject {
  readonly collection: Collection;
  readonly incarnation: string;
}

export const missedError = (reason: string) =>
  new CellportError(
    'UNAVAILABLE',
    `changes may have been missed (${reason}): subscribe again, with \`since\` to get what was missed`,
  );

const markerKey = ({ scope, key }: { readonly scope: string; readonly key: string }) => `${scope}\n${key}`;

/** The queues of all subscriptions, by what they are subscribed to. */
export class Listeners {
  readonly #keys: Keyspace;
  readonly #now: () => number;
  readonly #log: Log;
  readonly #markers = new Map<string, Watchers<Watcher>>();
  /** Those that wait for readings of a marker. */
  readonly #readings = new Map<string, Map<Queue<RecordedReading>, Subject>>();
  /** With the collections that they follow. */
  readonly #queues = new Map<Queue<unknown>, Collection>();

  constructor({ keys, now, log }: { readonly keys: Keyspace; readonly now: () => number; readonly log: Log }) {
    this.#keys = keys;
    this.#now = now;
    this.#log = log;
  }

  /** Does something for one subscription, which alone ends if it cannot be done. */
  #emitTo(queue: Queue<unknown>, emit: () => void): void {
    try {
      emit();
    } catch (err) {
      if (!(err instanceof CellportError)) this.#log.error({ err }, 'Cannot emit a record of the stream to a client');
      queue.end(err instanceof CellportError ? err : missedError('a record could not be understood'));
    }
  }

  emitMarker(event: MarkerEvent, bytes: number): void {
    for (const { area, queue, collection, earliest } of this.#markers.get(event.scope)?.near(event) ?? []) {
      this.#emitTo(queue, () => {
        const change = isSince(event, earliest) ? markerChange(this.#keys, event, collection, area) : undefined;
        if (change !== undefined) queue.push(change, bytes);
      });
    }
    for (const [queue, { collection }] of this.#readings.get(markerKey(event)) ?? []) {
      if (collection.grant?.rows === undefined) continue;
      this.#emitTo(queue, () => {
        const stays = event.after !== undefined && hasInRows(this.#keys, event.image, collection);
        // The same error for a marker that is gone and for one that is in the rows of others now.
        if (!stays) throw notFound('marker', markerId(collection.key, event.key));
      });
    }
  }

  emitReading(event: ReadingEvent, bytes: number): void {
    const watching = this.#readings.get(markerKey(event));
    const reading = watching && recordedReading(event, this.#now());
    if (reading === undefined) return;
    const of = incarnationOf(event);
    for (const [queue, { incarnation }] of watching ?? []) {
      if (of === undefined || of === incarnation) queue.push(reading, bytes);
    }
  }

  /** Adds a queue that begins to follow a collection. */
  add(queue: Queue<unknown>, collection: Collection): void {
    this.#queues.set(queue, collection);
  }

  remove(queue: Queue<unknown>): void {
    this.#queues.delete(queue);
  }

  /** Whether there is a queue of a collection. */
  has({ key }: Pick<Collection, 'key'>): boolean {
    return [...this.#queues.values()].some((collection) => collection.key === key);
  }

  /** Ends the queues of one incarnation of a collection, or all. */
  end(reason: CellportError, only?: Collection): void {
    for (const [queue, { key, createdAt }] of this.#queues) {
      if (only === undefined || (key === only.key && createdAt === only.createdAt)) queue.end(reason);
    }
  }

  /** From now on emits changes of markers to a watcher; returns the function that stops it. */
  watchMarkers(scope: string, watcher: Watcher): () => void {
    const watching = this.#markers.get(scope) ?? new Watchers<Watcher>();
    this.#markers.set(scope, watching);
    watching.add(watcher, watcher.area);
    return () => {
      watching.remove(watcher, watcher.area);
      if (watching.isEmpty) this.#markers.delete(scope);
    };
  }

  /** The same for the readings of one marker. */
  watchReadings(collection: Collection, { key, incarnation }: Marker, queue: Queue<RecordedReading>): () => void {
    const name = markerKey({ scope: this.#keys.scope(collection), key });
    const watching = this.#readings.get(name) ?? new Map<Queue<RecordedReading>, Subject>();
    this.#readings.set(name, watching);
    watching.set(queue, { collection, incarnation });
    return () => {
      watching.delete(queue);
      if (watching.size === 0) this.#readings.delete(name);
    };
  }
}
