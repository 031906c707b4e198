import type { Access } from '../access/access.js';
import type { Authenticator } from '../access/authenticator.js';
import type { Budgets } from '../access/budgets.js';
import type { MarkerCounts } from '../access/marker-counts.js';
import { CellportError } from '../errors.js';
import type { ZRange } from '../geo/geohash.js';
import type { LiveChanges } from '../live/hub.js';
import type { AreaMemory, ChangeLog } from '../loaders/area-memory.js';
import { remembered } from '../loaders/remembered.js';
import type { KeptAnswer } from '../map/tiles/kept-answer.js';
import type { Collection, SourceStatus } from '../model/collection.js';
import { STALE_AFTER_MS } from '../model/limits.js';
import type { RecentWrite } from '../pages/recent-writes.js';
import type { MapContext } from '../read/context.js';
import type { MarkerFormat } from '../read/from-pages/marker-texts.js';
import { Loaders, type LoaderServices } from '../read/loaders.js';
import type { TextSearch } from '../search/engine.js';
import type { Audit } from '../store/access/audit.js';
import type { Call } from '../store/database.js';
import type { AnswerWriter } from './execution/json-text.js';
import type { DocumentsByHash } from './execution/persisted.js';
import type { Work } from './work.js';

/** The state of the stream consumer on which answers depend. */
export interface StreamStatus {
  /** Whether this process runs the consumer. */
  readonly owner: boolean;
  /** Milliseconds since the cells last included the whole stream; undefined before the first time. */
  readonly behindMs: number | undefined;
  /** False after a gap in the stream, until a recount, and before the whole stream was read once. */
  readonly countsExact: boolean;
}

/** What is counted for quotas, by this process or by one for all that answer the requests to this server. */
export interface QuotaCounts extends Pick<MarkerCounts, 'changed'> {
  admit(...wanted: Parameters<MarkerCounts['admit']>): number | Promise<number>;
}

/** The other processes that answer the requests to this server. */
export interface Peers {
  /** Tells them of writes, and of the Z-order ranges that these change; resolves once their next answers have them. */
  wrote(scope: string, writes: readonly RecentWrite[], ranges: readonly ZRange[]): Promise<void>;
  /** The same for a collection, null if it was deleted. */
  changed(key: string, collection: Collection | null): Promise<void>;
}

/** Dependencies that all requests of a process share. */
export interface Services extends LoaderServices {
  readonly answerWriter: AnswerWriter;
  /** Tiles and other answers that are known to be what they would be now. */
  readonly answers: AreaMemory<KeptAnswer>;
  /** Where this process knows of changes. */
  readonly changes: ChangeLog;
  /** Undefined if no consumer runs. */
  readonly consumerStatus: () => StreamStatus | undefined;
  /** How far the source with a scope is followed. */
  readonly sourceStatus: (scope: string, call: Call) => Promise<SourceStatus>;
  /** Since when this process passes on the changes of a source, in milliseconds since 1970; undefined if it does not. */
  readonly sourceLiveSince: (scope: string) => Promise<number | undefined>;
  /** Source of changes for subscriptions; undefined if this process does not follow changes. */
  readonly live?: LiveChanges | undefined;
  /** Undefined if whoever reaches this server may do everything. */
  readonly authenticator?: Pick<Authenticator, 'access' | 'hold'> | undefined;
  /** Undefined if nobody has a budget. */
  readonly budgets?: Budgets | undefined;
  readonly markerCounts: QuotaCounts;
  /** Undefined if no other process answers the requests to this server. */
  readonly peers?: Peers | undefined;
  /** Undefined if changes are not audited. */
  readonly audit?: Audit | undefined;
  /** Undefined if search is off. */
  readonly search?: TextSearch | undefined;
  /** Whether clients may introspect the schema; true by default. */
  readonly introspection?: boolean | undefined;
  /** The only documents that are executed; undefined for any. */
  readonly trustedDocuments?: (() => Promise<DocumentsByHash>) | undefined;
  /** Seconds for which caches may keep answers to queries by GET; 0 by default. */
  readonly cacheSeconds?: number | undefined;
  /** Whether mutations are refused; false by default. */
  readonly readOnly?: boolean | undefined;
}

/** A list of markers in a compiled operation that is answered as text: copied from pages, without an object a marker. */
export interface MarkerList {
  readonly format: MarkerFormat;
  /** Number of fields of each marker. */
  readonly fields: number;
}

/** Context for resolvers. Each request has its own, so that no client sees data read for another. */
export interface RequestContext {
  readonly services: Services;
  readonly work: Work;
  /** Who asks, and what they may do; undefined for everything. */
  readonly access: Access | undefined;
  /** The error with which mutations of this request are refused; undefined if they are allowed. */
  readonly forbidsWrites?: CellportError | undefined;
  /** The address of the client, if it is known. */
  readonly address?: string | undefined;
  readonly map: MapContext;
  /** How far a source is followed, read once. */
  readonly sourceStatus: (collection: Collection) => Promise<SourceStatus>;
  /**
   * Set while compiled code executes the request: it cannot pause within a list, so it sets `tooLong` and gives up at a
   * long one. Lists of markers are texts, by number.
   */
  readonly compiled?: { tooLong: boolean; readonly lists: readonly MarkerList[] } | undefined;
}

/** Whether this process runs the consumer and has not fallen behind, so that its caches see every change at once. */
export function isFollowing(status: StreamStatus | undefined): boolean {
  return status?.owner === true && status.behindMs !== undefined && status.behindMs <= STALE_AFTER_MS;
}

const READ_ONLY = new CellportError(
  'FORBIDDEN',
  'this server is read-only and refuses mutations: CELLPORT_READ_ONLY is on',
);

/** The context of one request. */
export function createContext(services: Services, work: Work, access: Access | undefined): RequestContext {
  const { db, limits, authenticator, readOnly = false } = services;
  if (authenticator !== undefined && access === undefined) throw new Error('an operation without a principal');
  const loaders = new Loaders(services, work, access);
  const { turn } = work;
  const map = { loaders, keys: db.keys, limits, turn, scheduler: db.scheduler };
  const statuses = new Map<string, Promise<SourceStatus>>();
  const sourceStatus = (collection: Collection) =>
    remembered(statuses, collection.key, () => services.sourceStatus(db.keys.scope(collection), work));
  return { services, work, access, map, sourceStatus, forbidsWrites: readOnly ? READ_ONLY : undefined };
}
