import type { Collection } from '../model/collection.js';
import { loadStreamState } from '../store/cell/stream-state.js';
import { everyCollection } from '../store/collection/collections.js';
import { newCall, type Database } from '../store/database.js';
import { send } from '../store/request/send.js';
import { itemOfImage } from '../store/request/wire.js';
import type { SearchTables } from './follow.js';

/** Number of items per response, so that one takes few megabytes and other work gets its turn. */
const ITEMS_AT_A_TIME = 500;

/** What an index reads from a database. `consumer` names the stored state of the consumer. */
export function openSearchTables(database: Database, consumer: string): SearchTables {
  return {
    async readItems(after) {
      const request = {
        TableName: database.tables.entities,
        ConsistentRead: true,
        Limit: ITEMS_AT_A_TIME,
        ...(after === null ? {} : { ExclusiveStartKey: { pk: { S: after.pk }, sk: { S: after.sk } } }),
      };
      const { Items = [], LastEvaluatedKey: last } = await send(newCall(database), 'wireScan', request);
      return {
        items: Items.map(itemOfImage),
        next: last ? { pk: String(last['pk']?.S), sk: String(last['sk']?.S) } : null,
      };
    },
    async listCollections() {
      const found: Collection[] = [];
      for await (const some of everyCollection(newCall(database), 'in use', { consistent: true })) found.push(...some);
      return found;
    },
    consumed: () => loadStreamState(newCall(database), consumer),
  };
}
