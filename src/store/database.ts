import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import type { ServerClock } from '../clock.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { ObjectStore } from '../objects/object-store.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { Traced } from '../tracing.js';
import type { ConsumptionSampler } from './consumption/sampler.js';
import { newMeter, type Meter, type PageRead, type RangeRead } from './request/meter.js';

/** Names of the two tables. */
export interface Tables {
  /** Source of truth: collections, markers, zones and readings. It has the stream. */
  readonly entities: string;
  /** Derived from it: cells and the state of the stream's consumer. */
  readonly derived: string;
}

/** An item in the form that lib-dynamodb reads and writes: plain JavaScript values. */
export type Item = Readonly<Record<string, unknown>>;

/** Where geometries of zones are stored. */
export interface GeometryStore {
  /** Store for geometries that are too large for the zone's item; undefined if there is none. */
  readonly objects: ObjectStore | undefined;
  /** Maximum gzipped size in bytes of a geometry in the item. */
  readonly inlineBytes: number;
}

export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly tables: Tables;
  readonly keys: Keyspace;
  /** DynamoDB's time, by which all processes go: the clocks of their machines may differ. */
  readonly clock: ServerClock;
  /** Shared by everything that this process does with the database, so that no work delays the other. */
  readonly scheduler: Scheduler;
  /** Milliseconds that a command may take, including retries, before it fails with UNAVAILABLE. */
  readonly giveUpAfterMs: number;
  /** See `DatabaseOptions`. */
  readonly waitsForDisk: boolean;
  /** See `DatabaseOptions`. */
  readonly patiently: Patiently;
  readonly geometry: GeometryStore;
  /** Receives what each request consumes; undefined if consumption is not sampled. */
  readonly consumption?: ConsumptionSampler | undefined;
}

/** Runs a command, perhaps more than once. */
export type Patiently = <T>(command: () => Promise<T>) => Promise<T>;

/** Passed along with every command of one piece of work: where it is sent, where its cost is counted, and when to stop. */
export interface Call {
  readonly db: Database;
  readonly meter: Meter;
  readonly signal?: AbortSignal | undefined;
  /** Whether half of the time for it has passed; never if omitted. */
  readonly isLate?: (() => boolean) | undefined;
  /**
   * Claims the read units that a command is expected to take, before it is sent; returns the function that ends the claim once
   * the meter has what it took. Throws LIMIT_EXCEEDED if the work may not use so much.
   */
  readonly claim?: ((units: number) => () => void) | undefined;
  /** The meter's units are not needed. AWS reports them for free, but reporting slows DynamoDB Local's writes by a fifth. */
  readonly unpriced?: boolean | undefined;
  /** Undefined if nobody traces it. */
  readonly traced?: Traced | undefined;
  /** Collects each range that was read or served from a cache, for explanations; omitted if not requested. */
  readonly reads?: RangeRead[] | undefined;
  /** Collects each page of markers used, likewise. */
  readonly pages?: PageRead[] | undefined;
}

/** A call with its own meter, for startup and background work. */
export function newCall(db: Database, signal?: AbortSignal): Call {
  return { db, meter: newMeter(), signal };
}
