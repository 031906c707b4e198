import type { TableDescription } from '@aws-sdk/client-dynamodb';

import { badInput, CellportError, notFound } from '../errors.js';
import type { Database, Item } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { send } from '../store/request/send.js';
import { itemOfImage } from '../store/request/wire.js';
import { describeTable } from '../store/table/tables.js';
import { hashKeyOf } from './hash-keys.js';
import { readGeoItem, type Attributes, type GeoItem } from './item.js';

/** The layout of a table of the Geo Library. */
export interface TableLayout {
  readonly table: string;
  readonly attributes: Attributes;
  /** Name of the local secondary index by geohash. */
  readonly index: string;
  /** Number of digits of an ID that form its hash key. */
  readonly hashKeyLength: number;
  /** Which coordinate comes first in geoJson, according to a sample. */
  readonly order: 'longitude first' | 'latitude first';
  /** The table's creation time, RFC 3339 in UTC. */
  readonly createdAt: string;
  /** Number of items, which DynamoDB updates about every six hours. */
  readonly items: number;
  /** Distinguishes the table from others of the same name. */
  readonly id: string;
}

/** Names that the table's keys do not reveal; the library's defaults if omitted. */
export interface LayoutOptions {
  readonly index?: string | undefined;
  readonly geoJson?: string | undefined;
}

const SAMPLE = 100;

const notGeoTable = (table: string, why: string) =>
  new CellportError('BAD_USER_INPUT', `${table} is not a table of the Geo Library: ${why}`, { table });

/** The attribute names, from the table's keys. Throws BAD_USER_INPUT if the keys are not those of the library. */
function namesIn(description: TableDescription, index: string, geoJson: string): Attributes {
  const table = description.TableName ?? '';
  const typeOf = new Map(description.AttributeDefinitions?.map((each) => [each.AttributeName, each.AttributeType]));
  const keyIn = (schema: TableDescription['KeySchema'], type: 'HASH' | 'RANGE') =>
    schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  const hashKey = keyIn(description.KeySchema, 'HASH');
  const rangeKey = keyIn(description.KeySchema, 'RANGE');
  if (hashKey === undefined || typeOf.get(hashKey) !== 'N')
    throw notGeoTable(table, 'its partition key is not a number');
  if (rangeKey === undefined || typeOf.get(rangeKey) === 'B')
    throw notGeoTable(table, 'its sort key is not a string or a number');
  const indexes = description.LocalSecondaryIndexes ?? [];
  const geohash = keyIn(indexes.find(({ IndexName }) => IndexName === index)?.KeySchema, 'RANGE');
  if (geohash === undefined || typeOf.get(geohash) !== 'N') {
    const names = indexes.map(({ IndexName }) => IndexName).join(', ') || 'none';
    throw notGeoTable(
      table,
      `it has no local secondary index ${index} with a numeric sort key (its indexes: ${names}); pass --geohash-index to use another`,
    );
  }
  return { hashKey, rangeKey, geohash, geoJson };
}

/** The length of the hash keys in a sample. Throws BAD_USER_INPUT if they differ in length, or there are none. */
function hashKeyLengthIn(table: string, sample: readonly Item[], { hashKey, geohash }: Attributes): number {
  const lengths = new Set<number>();
  for (const item of sample) {
    const key = String(item[hashKey]);
    const id = String(item[geohash]);
    const length = key.replace('-', '').length;
    if (!/^-?\d+$/.test(id) || String(hashKeyOf(BigInt(id), length)) !== key) {
      throw notGeoTable(table, `${hashKey} ${key} is not a prefix of ${geohash} ${id}`);
    }
    lengths.add(length);
  }
  const [length, other] = lengths;
  if (length !== undefined && other === undefined) return length;
  if (length === undefined) {
    throw new CellportError('BAD_USER_INPUT', `table ${table} is empty, so the length of its hash keys is unknown`, {
      table,
    });
  }
  throw notGeoTable(table, `its hash keys have ${length} and ${other} digits`);
}

/**
 * Reads the layout of a table of the Geo Library for Amazon DynamoDB or of its JavaScript port, from its keys and a
 * sample of its items. Throws NOT_FOUND if there is no such table, BAD_USER_INPUT if it is empty or not a table of the
 * library.
 */
export async function readTableLayout(
  database: Database,
  table: string,
  options: LayoutOptions = {},
): Promise<TableLayout> {
  const { index = 'geohash-index', geoJson = 'geoJson' } = options;
  if (!/^[A-Za-z0-9_.-]{3,255}$/.test(table)) {
    throw badInput('table', table, 'a table name: 3 to 255 letters, digits, `_`, `-` or `.`');
  }
  const description = await describeTable(database, table);
  if (description === undefined) throw notFound('table', table);
  const attributes = namesIn(description, index, geoJson);
  // The only Scan needed for serving: one page, at the start.
  const { Items: page = [] } = await send(database, 'wireScan', { TableName: table, Limit: SAMPLE }, newCall());
  const sample = page.map(itemOfImage);
  const hashKeyLength = hashKeyLengthIn(table, sample, attributes);
  const read = sample.map((item) => readGeoItem(item, attributes));
  const markers = read.filter((one): one is GeoItem => !('reason' in one));
  const [fault] = read;
  if (markers.length === 0) {
    throw notGeoTable(
      table,
      fault !== undefined && 'reason' in fault ? fault.reason : 'no item in the sample is a point',
    );
  }
  const latitudeFirst = markers.filter(({ order }) => order === 'latitude first').length;
  const longitudeFirst = markers.filter(({ order }) => order === 'longitude first').length;
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
