import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import type { SearchChange, SearchEngine, SearchReader } from '../search/engine.js';
import type { FollowIndexOptions } from '../search/follow.js';
import { inLine } from '../search/line.js';
import { openClient, type Client } from '../search/opensearch/client.js';
import { putRefusals } from '../search/opensearch/dead-letters.js';
import { indexNames, type SearchIndexNames } from '../search/opensearch/indexes.js';
import { openReader, openSearchEngine } from '../search/opensearch/opensearch-engine.js';
import { IN_USE, NEXT, NO_INDEX, stateItem, type SearchState } from '../search/opensearch/state.js';
import type { Refusal } from '../search/opensearch/write.js';
import type { Database } from '../store/database.js';
import type { Lease, LeaseOptions } from '../store/lease.js';
import { describeTable } from '../store/table/tables.js';
import { missing, readGeometry } from '../store/zone/zone-geometry.js';
import { ownerIsGone, ownName } from '../stream/consume/owners.js';
import type { StreamBackend } from './backend.js';
import { ServerIndex } from './server-index.js';

const LEASE_MS = 20_000;
/** Searches of this server that the cluster answers at the same time. */
const SEARCHES_AT_ONCE = 16;

/** OpenSearch, and the state of this table's indexes in it. */
export interface SearchCluster {
  readonly client: Client;
  readonly names: SearchIndexNames;
  readonly reader: SearchReader;
  /** Options for taking the lease of a state; `onLook` receives the state each time it is read. */
  lease(name: string, onLook?: (state: SearchState) => void): LeaseOptions<SearchState>;
  /** The engine for the index of a leased state; only the lease holder writes to it. */
  engine(lease: Lease<SearchState>, name: string): SearchEngine;
  follower(engine: SearchEngine, isBusy?: FollowIndexOptions['isBusy']): ServerIndex;
  close(): Promise<void>;
}

/**
 * Reads the geometry of zones. A geometry that cannot be read becomes a dead letter, and its zone is indexed without
 * it.
 */
export function shapes(database: Database, onRefused: (refusals: readonly Refusal[]) => Promise<void>) {
  return async (change: SearchChange): Promise<unknown> => {
    if (change.type === 'remove' || change.document.geometry === undefined) return undefined;
    const { key, geometry } = change.document;
    try {
      const json = await readGeometry(database.geometry, geometry);
      if (json === undefined) throw missing(geometry);
      return JSON.parse(json.toString()) as unknown;
    } catch (error) {
      if (!(error instanceof CellportError)) throw error;
      await onRefused([{ key, reason: error.message }]);
      return undefined;
    }
  };
}

/**
 * What distinguishes a table from all others, those of its name in other accounts and regions included. In DynamoDB Local only
 * the time does. Throws UNAVAILABLE if there is no such table.
 */
async function identityOf(database: Database, name: string): Promise<string> {
  const table = await describeTable(database, name);
  if (table === undefined) throw new CellportError('UNAVAILABLE', `there is no table ${name}`);
  return `${table.TableArn ?? name} ${table.CreationDateTime?.toISOString() ?? ''}`;
}

/** Opens the configured OpenSearch, without connecting to it. */
export async function openCluster(url: string, backend: StreamBackend, log: Log): Promise<SearchCluster> {
  const { database } = backend;
  const { entities } = database.tables;
  const names = indexNames(entities, await identityOf(database, entities));
  const client = await openClient(url);
  const self = ownName();
  const onRefused = async (refusals: readonly Refusal[]) => {
    log.error({ refusals: refusals.slice(0, 10) }, 'OpenSearch rejected some documents; see docs/search.md');
    await putRefusals(database, refusals);
  };
  const shapeOf = shapes(database, onRefused);
  const load = async (name: string) => (await stateItem(database, name).load()) ?? NO_INDEX;
  return {
    client,
    names,
    reader: inLine(
      openReader(client, names, async () => {
        const { index, checkpoint } = await load(IN_USE);
        return { index, checkpoint: checkpoint ?? undefined };
      }),
      SEARCHES_AT_ONCE,
    ),
    lease(name, onLook) {
      const store = stateItem(database, name);
      const prepare = (found = NO_INDEX) => {
        onLook?.(found);
        return found;
      };
      return { clock: database.clock, self, leaseMs: LEASE_MS, ownerIsGone, store, prepare };
    },
    engine: (lease, name) =>
      openSearchEngine({
        client,
        names,
        clock: database.clock,
        shapeOf,
        onRefused,
        inUse: name === IN_USE,
        others: async () => [(await load(NEXT)).index],
        state: {
          load: () => {
            const { index, checkpoint } = lease.current;
            return Promise.resolve({ index, checkpoint: checkpoint ?? undefined });
          },
          store: async ({ index, checkpoint = null }) => {
            await lease.update((state) => ({ ...state, index, checkpoint }));
          },
        },
      }),
    follower: (engine, isBusy) => new ServerIndex(engine, backend, log, isBusy),
    close: () => client.close(),
  };
}
