import type { Buckets } from '../../access/budgets.js';
import type { Config } from '../../config.js';
import type { Peers, QuotaCounts } from '../../graphql/context.js';
import type { LoadReadiness, Readiness, SourceReadiness } from '../../http/health.js';
import type { IndexStatus, SearchReader } from '../../search/engine.js';
import type { ConsumerStatus } from '../../stream/consume/consumer.js';
import type { Followed } from '../../stream/consume/follower.js';
import type { Caches } from '../consumer.js';
import type { Hub } from '../live.js';
import type { Snapshot } from './metrics.js';

/** What the primary process knows that answers depend on. */
export interface UpkeepState {
  /** When it was told, in milliseconds since 1970, by the clock of the machine. */
  readonly at: number;
  readonly consumer: ConsumerStatus;
  readonly ends: readonly Followed[];
  readonly load: LoadReadiness | undefined;
  readonly search: IndexStatus | undefined;
  readonly sources: readonly SourceReadiness[];
  /** By the scopes of their collections; `isSearched` says whether the search index has the markers. */
  readonly sourceStates: ReadonlyMap<string, { readonly status: ConsumerStatus; readonly isSearched: boolean }>;
}

/** What a worker begins with. */
export interface Boot {
  /** With its part of the limits. */
  readonly config: Config;
  readonly hasDemo: boolean;
}

/** A connection that a worker is to accept, in a message with its socket. */
export interface Sent {
  readonly connection: number;
}

/** What the primary process calls in a worker, once that has joined. */
export interface WorkerCalls extends Pick<Hub, 'take' | 'connected' | 'disconnected' | 'missed'> {
  state(state: UpkeepState): void;
  /** Those of `Caches`. */
  cellsApplied: Caches['cellCache']['applied'];
  pageChanged(name: string, round: number): void;
  areasChanged: Caches['changes']['changed'];
  forgetCached(): void;
  wrote(...writes: Parameters<Peers['wrote']>): void;
  changed(...change: Parameters<Peers['changed']>): void;
  /** Which of these collections anyone subscribes to, by key. */
  heard(keys: readonly string[]): readonly string[];
  snapshot(): Promise<Snapshot>;
  ready(): Promise<Readiness>;
  /** Finishes the requests in progress, and ends the process. */
  stop(): void;
}

/** What a worker calls in the primary process. */
export interface PrimaryCalls extends Peers, Pick<SearchReader, 'search' | 'count'>, Pick<Buckets, 'take'> {
  boot(): Boot;
  /** From now on, the worker gets every change. Resolves when it may answer. */
  join(): Promise<void>;
  /** Whether the worker takes connections from now on. */
  answers(answers: boolean): void;
  /** It has a connection that it was sent. */
  accepted(number: number): void;
  admit: QuotaCounts['admit'];
  counted: QuotaCounts['changed'];
  sourceLiveSince(scope: string): Promise<number | undefined>;
  snapshots(): Promise<readonly Snapshot[]>;
}
