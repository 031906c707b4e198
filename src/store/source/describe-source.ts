import { badInput, CellportError } from '../../errors.js';
import type { TableKeyAttribute } from '../../model/collection.js';
import type { Call, Database, Item } from '../database.js';
import { send, type Operations } from '../request/send.js';
import { exactItemOf } from '../request/wire.js';
import { describeTable } from '../table/tables.js';

/** A table of others, as DynamoDB describes it. */
export interface SourceTable {
  readonly name: string;
  readonly key: readonly TableKeyAttribute[];
  /** The view type of its stream; undefined if it has none. */
  readonly stream: string | undefined;
  /** Counted by DynamoDB about every six hours. */
  readonly items: number;
  readonly bytes: number;
}

/** Describes a table of others. Throws NOT_FOUND if it does not exist, and BAD_USER_INPUT for one of Cellport's own. */
export async function describeSource(database: Database, name: string): Promise<SourceTable> {
  if (!/^[\w.-]{3,255}$/.test(name)) throw badInput('--table', name, 'the name of a DynamoDB table');
  // Cellport would follow its own writes.
  if (Object.values(database.tables).includes(name))
    throw badInput('table', name, 'a table that Cellport does not write');
  const found = await describeTable(database, name);
  if (found === undefined) {
    const message = `there is no table ${JSON.stringify(name)} in this account and region; the AWS settings choose these, and without any, Cellport uses its embedded database`;
    throw new CellportError('NOT_FOUND', message, { table: name });
  }
  const types = new Map(found.AttributeDefinitions?.map((each) => [each.AttributeName, each.AttributeType]));
  const { StreamEnabled: on, StreamViewType: view } = found.StreamSpecification ?? {};
  return {
    name,
    key: (found.KeySchema ?? []).map(({ AttributeName: attribute = '' }) => ({
      name: attribute,
      type: types.get(attribute) ?? 'S',
    })),
    stream: on === true ? view : undefined,
    items: found.ItemCount ?? 0,
    bytes: found.TableSizeBytes ?? 0,
  };
}

/** Why a table cannot be followed; undefined if it can. Its stream is a setting of its owner, so it is never changed. */
export function streamFault({ name, stream }: SourceTable): string | undefined {
  if (stream === 'NEW_AND_OLD_IMAGES') return undefined;
  const command = (setting: string) =>
    `aws dynamodb update-table --table-name ${name} --stream-specification ${setting}`;
  const on = command('StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES');
  if (stream === undefined)
    return `table ${name} has no stream. Following it needs one: ${on}; or read the table again and again, with --every 1h`;
  // A table that is being updated refuses other updates.
  const wait = `aws dynamodb wait table-exists --table-name ${name}`;
  return (
    `the stream of table ${name} has the view type ${stream}; following it needs NEW_AND_OLD_IMAGES. DynamoDB cannot change it: ` +
    `switching the stream off and on again makes another one, and whoever reads the present one misses what is written ` +
    `meanwhile: ${command('StreamEnabled=false')}; ${wait}; ${on}`
  );
}

/** Items of all parts of a table, at most so many: a partition may have millions that are alike. */
export async function sampleItems(call: Call, table: string, most: number): Promise<Item[]> {
  type Scan = Operations['wireScan'];
  const SEGMENTS = 8;
  const found: Item[] = [];
  const parts: Partial<Scan['input']>[] = Array.from({ length: SEGMENTS }, (_, Segment) => ({ Segment }));
  for (let part = parts.shift(); part !== undefined && found.length < most; part = parts.shift()) {
    const Limit = Math.ceil((most - found.length) / (parts.length + 1));
    const request = { TableName: table, TotalSegments: SEGMENTS, ...part, Limit };
    const response: Scan['output'] = await send(call, 'wireScan', request);
    for (const item of response.Items ?? []) found.push(exactItemOf(item));
    if (response.LastEvaluatedKey) parts.push({ ...part, ExclusiveStartKey: response.LastEvaluatedKey });
  }
  return found;
}
