import { performance } from 'node:perf_hooks';

import { randomFrom } from '../support/random.js';
import type { FleetServer } from './fleet-server.js';
import type { Fleet } from './fleet.js';
import type { Operation } from './history.js';
import { Model, positionOf } from './model.js';

/** The first is in the geographic index, the second is not: its maps are as current as the stream's consumer. */
export const COLLECTIONS = ['indexed', 'pages'] as const;
export type Collection = (typeof COLLECTIONS)[number];
/** Markers of each collection that never change. */
export const STEADY = 120;
const SLOTS = 4;
/** Writes to a marker before another takes its place, so that histories stay short enough to be decided. */
const WRITES_OF_KEY = 25;

export const idOf = (collection: string, key: string) => `marker::${collection}::${key}`;
export const steadyKey = (n: number) => `steady-${n}`;
export const steadyMarkers = () =>
  Array.from({ length: STEADY }, (_, n) => ({ key: steadyKey(n), position: positionOf(n), properties: { v: n } }));

/** A marker as servers tell it to clients. */
export interface Told {
  readonly version: number;
  readonly properties: { readonly v: number };
}
export const TOLD = 'version properties';

/** What all clients of a run share, and what they found. */
export class Run {
  readonly fleet: Fleet;
  readonly signal: AbortSignal;
  readonly history: Operation[] = [];
  readonly models: Readonly<Record<Collection, Model>> = { indexed: new Model(), pages: new Model() };
  readonly counts: Record<string, number> = {};
  /** What no fault excuses. */
  readonly wrong: string[] = [];
  /** By how many milliseconds answers were behind. */
  readonly lags: Record<string, number[]> = {};
  readonly #turns = new Map<string, number>();
  #began = performance.now();

  constructor(fleet: Fleet, signal: AbortSignal) {
    this.fleet = fleet;
    this.signal = signal;
  }

  begin(): void {
    this.#began = performance.now();
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  fail(what: string): void {
    this.wrong.push(`${what} (at ${((performance.now() - this.#began) / 1_000).toFixed(1)} s)`);
  }

  lag(of: string, ms: number): void {
    (this.lags[of] ??= []).push(ms);
  }

  /** Notes an operation, which ends now. */
  note(
    collection: Collection,
    key: string,
    asked: number,
    operation: Omit<Operation, 'key' | 'call' | 'return'>,
  ): void {
    const microseconds = (ms: number) => Math.round(ms * 1_000);
    const end = operation.result === 'unknown' ? -1 : microseconds(performance.now());
    this.history.push({ ...operation, key: `${collection}/${key}`, call: microseconds(asked), return: end });
  }

  /** Notes a strong read, and that it showed what was replaced before. */
  noteRead(collection: Collection, key: string, asked: number, client: number, marker: Told | null): void {
    this.count('read: ok');
    const told = { value: marker?.properties.v, version: marker?.version };
    this.note(collection, key, asked, { kind: 'read', result: 'ok', client, ...told });
    const { ms } = this.models[collection].lag(key, asked, '', (value) => value === told.value);
    if (ms > 0)
      this.fail(`marker ${key} of ${collection} was read as ${told.value}, replaced ${Math.round(ms)} ms before`);
  }

  /** The key that is in a slot now. */
  key(collection: Collection, slot: number, writes = 0): string {
    const name = `${collection} ${slot}`;
    const turn = (this.#turns.get(name) ?? 0) + writes;
    this.#turns.set(name, turn);
    return `k${slot}-${Math.floor(turn / WRITES_OF_KEY)}`;
  }
}

/** What a client does next, which follows from the seed alone. */
export function chooser({ fleet }: Run, seed: number) {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return {
    pick,
    below,
    place: (): { readonly server: FleetServer; readonly collection: Collection; readonly slot: number } => ({
      server: pick(fleet.servers),
      collection: pick(COLLECTIONS),
      slot: below(SLOTS),
    }),
  };
}
