import { newCall, type Database } from '../../store/database.js';
import type { Leased, LeaseStore } from '../../store/lease.js';
import { putVersion } from '../../store/request/conditional-write.js';
import { send } from '../../store/request/send.js';

/** The state of an index in OpenSearch, shared by the servers of a table: one of them, the owner, writes it. */
export interface SearchState extends Leased {
  readonly token: string;
  /** Name of the index; empty before the first one. */
  readonly index: string;
  /** The checkpoint of the index; null if it is empty. */
  readonly checkpoint: string | null;
}

/** The names of two states: of the index in use, and of the one being built to replace it. */
export const IN_USE = 'search';
export const NEXT = 'search-next';

/** The state before the first index. */
export const NO_INDEX: SearchState = { version: 0, token: '', owner: '', index: '', checkpoint: null };

/** Where a state is stored: in the derived table, under its lease. */
export function stateItem(database: Database, name: string): LeaseStore<SearchState> {
  const { keys, tables } = database;
  const key = keys.streamState(name);
  return {
    async load() {
      const request = { TableName: tables.derived, Key: key, ConsistentRead: true };
      const { Item } = await send(newCall(database), 'get', request);
      if (Item === undefined) return undefined;
      const { pk: _pk, sk: _sk, ...state } = Item;
      return state as unknown as SearchState;
    },
    put: (next) => putVersion(newCall(database), tables.derived, { ...key, ...next }),
  };
}
