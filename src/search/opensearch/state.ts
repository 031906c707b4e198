import type { Database } from '../../store/database.js';
import type { LeaseStore, Leased } from '../../store/lease.js';
import { putVersion } from '../../store/request/conditional-put.js';
import { newCall } from '../../store/request/meter.js';
import { send } from '../../store/request/send.js';

/** What the servers of a table share about an index in OpenSearch: one of them, the owner, writes it. */
export interface SearchState extends Leased {
  readonly token: string;
  /** Empty before the first one. */
  readonly index: string;
  /** How far the index is; null if it has nothing. */
  readonly checkpoint: string | null;
}

/** The names of the states of the index in use, and of the one that is built to take its place. */
export const IN_USE = 'search';
export const NEXT = 'search-next';

/** The state before the first index. */
export const NO_INDEX: SearchState = { version: 0, token: '', owner: '', index: '', checkpoint: null };

/** Where a state is kept: in the derived table, under its lease. */
export function stateItem(database: Database, name: string): LeaseStore<SearchState> {
  const { keys, tables } = database;
  const key = keys.streamState(name);
  return {
    async load() {
      const request = { TableName: tables.derived, Key: key, ConsistentRead: true };
      const { Item } = await send(database, 'get', request, newCall());
      if (Item === undefined) return undefined;
      const { pk: _pk, sk: _sk, ...state } = Item;
      return state as unknown as SearchState;
    },
    put: (next) => putVersion(database, tables.derived, { ...key, ...next }, newCall()),
  };
}
