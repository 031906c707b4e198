import { INDEXES } from '../../keys/indexes.js';
import type { Key } from '../../keys/document-id.js';
import type { Database } from '../database.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';

/** The key of the item with a global ID, eventually consistent; undefined where there is none. */
export async function findGlobalId(database: Database, globalId: string, call: Call): Promise<Key | undefined> {
  const { Items = [] } = await send(
    database,
    'query',
    {
      TableName: database.tables.entities,
      IndexName: 'global',
      KeyConditionExpression: '#id = :id',
      ExpressionAttributeNames: { '#id': INDEXES.global.pk },
      ExpressionAttributeValues: { ':id': globalId },
      Limit: 1,
    },
    call,
  );
  const [item] = Items;
  return item && { pk: String(item['pk']), sk: String(item['sk']) };
}
