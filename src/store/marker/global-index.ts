import type { Key } from '../../keys/document-id.js';
import type { Database } from '../database.js';
import type { Call } from '../request/meter.js';
import { rangeRequest } from '../request/ranges.js';
import { send } from '../request/send.js';

/** The key of the item with a global ID, eventually consistent; undefined if there is none. */
export async function findGlobalId(database: Database, globalId: string, call: Call): Promise<Key | undefined> {
  const request = rangeRequest(database, { index: 'global', pk: globalId, limit: 1 });
  const { Items: [item] = [] } = await send(database, 'query', request, call);
  return item && { pk: String(item['pk']), sk: String(item['sk']) };
}
