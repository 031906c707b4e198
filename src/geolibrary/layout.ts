import { DescribeTableCommand, type TableDescription } from '@aws-sdk/client-dynamodb';

import { CellportError, badInput, notFound } from '../errors.js';
import type { Database, Item } from '../store/database.js';
import { isFailure, mapFailure } from '../store/request/failures.js';
import { newCall } from '../store/request/meter.js';
import { itemOfImage } from '../store/request/query-items.js';
import { send } from '../store/request/send.js';
import { hashKeyOf } from './hash-keys.js';
import { type Attributes, type GeoItem, readGeoItem } from './item.js';

/** How a table of the Geo Library is laid out. */
export interface Layout {
  readonly table: string;
  readonly attributes: Attributes;
  /** Name of the local secondary index by geohash. */
  readonly index: string;
  /** Digits of an id that are its hash key. */
  readonly hashKeyLength: number;
  /** Which of the two coordinates in its geoJson comes first, as far as a sample tells. */
  readonly order: 'longitude first' | 'latitude first';
  /** When the table was made, RFC 3339 in UTC. */
  readonly createdAt: string;
  /** Items, by a count that DynamoDB brings up to date every six hours. */
  readonly items: number;
  /** What tells it from another table of that name. */
  readonly id: string;
}

/** What cannot be seen in a table itself; the library's own names where left out. */
export interface LayoutOptions {
  readonly index?: string | undefined;
  readonly geoJson?: string | undefined;
}

const SAMPLE = 100;

async function describe({ client }: Database, table: string): Promise<TableDescription> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
    if (Table !== undefined) return Table;
  } catch (error) {
    if (!isFailure(error, 'ResourceNotFoundException')) throw mapFailure(error);
  }
  throw notFound('table', table);
}

const foreign = (table: string, why: string) =>
  new CellportError('BAD_USER_INPUT', `${table} is no table of the Geo Library: ${why}`, { table });

/** The names of the attributes, from the table's keys. Throws BAD_USER_INPUT where they are not those of such a table. */
function namesIn(description: TableDescription, index: string, geoJson: string): Attributes {
  const table = description.TableName ?? '';
  const typeOf = new Map(description.AttributeDefinitions?.map((each) => [each.AttributeName, each.AttributeType]));
  const keyIn = (schema: TableDescription['KeySchema'], type: 'HASH' | 'RANGE') =>
    schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  const hashKey = keyIn(description.KeySchema, 'HASH');
  const rangeKey = keyIn(description.KeySchema, 'RANGE');
  if (hashKey === undefined || typeOf.get(hashKey) !== 'N') throw foreign(table, 'its partition key is no number');
  if (rangeKey === undefined || typeOf.get(rangeKey) === 'B') throw foreign(table, 'its sort key is no text or number');
  const indexes = description.LocalSecondaryIndexes ?? [];
  const geohash = keyIn(indexes.find(({ IndexName }) => IndexName === index)?.KeySchema, 'RANGE');
  if (geohash === undefined || typeOf.get(geohash) !== 'N') {
    const names = indexes.map(({ IndexName }) => IndexName).join(', ') || 'none';
    throw foreign(
      table,
      `it has no local secondary index ${index} by a number (--geohash-index names another); it has ${names}`,
    );
  }
  return { hashKey, rangeKey, geohash, geoJson };
}

/** The length of the hash keys of some items. Throws BAD_USER_INPUT where they have not all the same. */
function hashKeyLengthIn(table: string, sample: readonly Item[], { hashKey, geohash }: Attributes): number {
  const lengths = new Set<number>();
  for (const item of sample) {
    const key = String(item[hashKey]);
    const id = String(item[geohash]);
    const length = key.replace('-', '').length;
    if (!/^-?\d+$/.test(id) || String(hashKeyOf(BigInt(id), length)) !== key) {
      throw foreign(table, `its ${hashKey} ${key} is not how its ${geohash} ${id} begins`);
    }
    lengths.add(length);
  }
  const [length, other] = lengths;
  if (length !== undefined && other === undefined) return length;
  if (length === undefined) {
    throw new CellportError('BAD_USER_INPUT', `table ${table} is empty: nothing tells how long its hash keys are`, {
      table,
    });
  }
  throw foreign(table, `it has hash keys of ${length} and of ${other} digits`);
}

/**
 * Looks at a table of the Geo Library for Amazon DynamoDB, or of its JavaScript port: its keys and some of its items tell
 * how it is laid out. Throws NOT_FOUND where there is none, BAD_USER_INPUT where it is none of the library's or is empty.
 */
export async function readLayout(database: Database, table: string, options: LayoutOptions = {}): Promise<Layout> {
  const { index = 'geohash-index', geoJson = 'geoJson' } = options;
  if (!/^[A-Za-z0-9_.-]{3,255}$/.test(table)) {
    throw badInput('table', table, 'the name of a table: 3 to 255 letters, digits, `_`, `-` or `.`');
  }
  const description = await describe(database, table);
  const attributes = namesIn(description, index, geoJson);
  // The one Scan that serving takes, of one page, before anybody asks for anything.
  const { Items: page = [] } = await send(database, 'wireScan', { TableName: table, Limit: SAMPLE }, newCall());
  const sample = page.map(itemOfImage);
  const hashKeyLength = hashKeyLengthIn(table, sample, attributes);
  const read = sample.map((item) => readGeoItem(item, attributes));
  const understood = read.filter((one): one is GeoItem => !('reason' in one));
  const [fault] = read;
  if (understood.length === 0) {
    throw foreign(table, fault !== undefined && 'reason' in fault ? fault.reason : 'no item of a sample is a point');
  }
  const latitudeFirst = understood.filter(({ order }) => order === 'latitude first').length;
  const longitudeFirst = understood.filter(({ order }) => order === 'longitude first').length;
  return {
    table,
    attributes,
    index,
    hashKeyLength,
    order: latitudeFirst > longitudeFirst ? 'latitude first' : 'longitude first',
    createdAt: (description.CreationDateTime ?? new Date(0)).toISOString(),
    items: description.ItemCount ?? 0,
    id: description.TableId ?? description.CreationDateTime?.toISOString() ?? '',
  };
}
