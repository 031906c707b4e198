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
export async function noteFailure(
  database: Database,
  consumer: string,
  failure: SourceFailure | null,
  call: Call,
): Promise<void> {
  const { TableName, Key } = placeOf(database, consumer);
  if (failure === null) await send(database, 'delete', { TableName, Key }, call);
  else await send(database, 'put', { TableName, Item: { ...Key, ...failure } }, call);
}

/** Why a table cannot be read; undefined if nobody has noted that. */
export async function readFailure(database: Database, consumer: string, call: Call): Promise<string | undefined> {
  const { Item: item } = await send(database, 'get', placeOf(database, consumer), call);
  return typeof item?.['reason'] === 'string' ? item['reason'] : undefined;
}
