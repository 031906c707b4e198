import type { Call, Database } from '../database.js';
import { send } from '../request/send.js';

/** Why a table of others cannot be read at present, whichever process has tried. */
export interface SourceFailure {
  readonly reason: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly since: string;
}

const placeOf = ({ keys, tables }: Database, consumer: string) => {
  return { TableName: tables.derived, Key: keys.streamState(`${consumer}/failure`) };
};

/** Notes that a table cannot be read; null if it can again. */
export async function noteFailure(call: Call, consumer: string, failure: SourceFailure | null): Promise<void> {
  const { TableName, Key } = placeOf(call.db, consumer);
  if (failure === null) await send(call, 'delete', { TableName, Key });
  else await send(call, 'put', { TableName, Item: { ...Key, ...failure } });
}

/** Why a table cannot be read; undefined if nobody has noted that. */
export async function readFailure(call: Call, consumer: string): Promise<string | undefined> {
  const { Item: item } = await send(call, 'get', placeOf(call.db, consumer));
  return typeof item?.['reason'] === 'string' ? item['reason'] : undefined;
}
