import type { Key } from '../../keys/document-id.js';
import { readItem } from '../request/conditional-change.js';
import { putIfAbsent } from '../request/conditional-put.js';
import type { Database, Item } from '../database.js';
import { isFailure } from '../request/failures.js';
import type { Call } from '../request/meter.js';
import { send } from '../request/send.js';

/** A piece of work in the background, as the processes that might do it share it. */
export interface Job {
  /** Raised by every write, and the condition of the next one: of two writers one is refused. */
  readonly version: number;
  /** Who does it; empty for nobody. */
  readonly owner: string;
  /** How far it has come: what that means is up to the work. */
  readonly done: number;
}

/** A job as it stands at this moment; undefined where there is none. */
export async function loadJob(database: Database, key: Key, call: Call): Promise<Job | undefined> {
  const { version, owner, done } = (await readItem(database, key, call)) ?? {};
  if (typeof version !== 'number') return undefined;
  return { version, owner: String(owner), done: typeof done === 'number' ? done : 0 };
}

/** Replaces a job of version `next.version - 1`, version 1 being the first; false where another write came first. */
export async function putJob(database: Database, key: Key, next: Job, call: Call): Promise<boolean> {
  const { entities } = database.tables;
  const item: Item = { pk: key.pk, sk: key.sk, ...next };
  if (next.version === 1) return putIfAbsent(database, entities, item, call);
  try {
    await send(
      database,
      'put',
      {
        TableName: entities,
        Item: item,
        ConditionExpression: '#version = :before',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':before': next.version - 1 },
      },
      call,
    );
    return true;
  } catch (error) {
    if (isFailure(error, 'ConditionalCheckFailedException')) return false;
    throw error;
  }
}
