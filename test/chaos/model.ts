import { areaContains, normalizeBounds, type Bounds, type Point } from '../../src/geo/bounds.js';
import { randomFrom } from '../support/random.js';

/** What a marker may have become. `returned` is Infinity while nobody knows whether it happened. */
export interface Write {
  /** Undefined if it deletes the marker. */
  readonly value: number | undefined;
  readonly asked: number;
  returned: number;
  /** The run of the server that acknowledged it. */
  by: string;
}

/** Where clients look. */
export const BOXES: readonly Bounds[] = [
  { west: -180, south: -90, east: 180, north: 90 },
  { west: 10, south: 50, east: 20, north: 60 },
  { west: 16.9, south: 52.4, east: 16.95, north: 52.45 },
  { west: 179, south: -1, east: -179, north: 1 },
];
const AREAS = BOXES.map((bounds) => normalizeBounds('bounds', bounds));
export const WORLD = 0;

/** Where the marker with a value is: in one of the boxes, or anywhere. */
export function positionOf(value: number): Point {
  const random = randomFrom(value);
  const { west, south, east, north } = BOXES[Math.floor(random() * BOXES.length)] as Bounds;
  const lng = west + random() * (east < west ? 2 : east - west);
  return { lng: lng > 180 ? lng - 360 : lng, lat: south + random() * (north - south) };
}

export const isIn = (box: number, value: number | undefined): boolean =>
  value !== undefined && areaContains(AREAS[box] as (typeof AREAS)[number], positionOf(value));

/** Writes that were replaced longer ago than this are forgotten: to be told of one is wrong whatever the server says. */
const FORGOTTEN_MS = 300_000;

/** How late an answer about one marker is; `missesOwn` if its server had acknowledged a later write before. */
export interface Lag {
  readonly ms: number;
  readonly missesOwn: boolean;
}
const NEVER: Lag = { ms: Infinity, missesOwn: true };

/** What each marker of a collection may be, and when, by what clients asked for and were told. */
export class Model {
  readonly #writes = new Map<string, Write[]>();

  get keys(): readonly string[] {
    return [...this.#writes.keys()];
  }

  /** Notes a write that a client is about to ask for. */
  begin(key: string, write: Write): Write {
    const known = this.#writes.get(key) ?? [{ value: undefined, asked: -Infinity, returned: -Infinity, by: '' }];
    this.#writes.set(key, known);
    known.push(write);
    return write;
  }

  /** Forgets a write that did not happen. */
  refused(key: string, write: Write): void {
    const known = this.#writes.get(key) ?? [];
    known.splice(known.indexOf(write), 1);
  }

  /** When the last acknowledged write that followed another one entirely was acknowledged first. */
  static #replacedAt(write: Write, all: readonly Write[], by?: string): number {
    let at = Infinity;
    for (const later of all)
      if (later !== write && later.asked >= write.returned && (by === undefined || later.by === by))
        at = Math.min(at, later.returned);
    return at;
  }

  /** The least lag of any write that fits an answer to a question that was asked at a time. */
  lag(key: string, asked: number, by: string, fits: (value: number | undefined) => boolean): Lag {
    const all = this.#writes.get(key);
    if (all === undefined) return fits(undefined) ? { ms: 0, missesOwn: false } : NEVER;
    let least = NEVER;
    const forgotten: Write[] = [];
    for (const write of all) {
      const ms = Math.max(0, asked - Model.#replacedAt(write, all));
      if (ms > FORGOTTEN_MS) forgotten.push(write);
      else if (ms <= least.ms && fits(write.value))
        least = { ms, missesOwn: Model.#replacedAt(write, all, by) < asked && (ms < least.ms || least.missesOwn) };
    }
    if (forgotten.length > 0)
      this.#writes.set(
        key,
        all.filter((write) => !forgotten.includes(write)),
      );
    return least;
  }

  /** The lags of each marker if it is inside a box, and if it is not. */
  #sides(box: number, asked: number): readonly { readonly inside: number; readonly outside: number }[] {
    return this.keys.map((key) => ({
      inside: this.lag(key, asked, '', (value) => isIn(box, value)).ms,
      outside: this.lag(key, asked, '', (value) => !isIn(box, value)).ms,
    }));
  }

  /** The least lag by which there may have been so many markers in a box. */
  lagOfCount(box: number, asked: number, count: number): number {
    const sides = this.#sides(box, asked);
    const lags = [0, ...sides.flatMap(({ inside, outside }) => [inside, outside])].filter(Number.isFinite);
    for (const lag of [...new Set(lags)].toSorted((a, b) => a - b)) {
      const least = sides.filter(({ outside }) => outside > lag).length;
      const most = sides.filter(({ inside }) => inside <= lag).length;
      if (count >= least && count <= most) return lag;
    }
    return Infinity;
  }
}
