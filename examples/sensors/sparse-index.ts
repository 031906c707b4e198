import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';

import { listedSensor, normalized, placeCondition, SENSOR } from './keys.js';
import type { SensorRegister } from './register.js';

const INDEX = 'place';
const PK = 'ppk';
const SK = 'psk';

/** The table: the index contains items with `ppk` and `psk`, with the attributes that lists show. */
export function sparseIndexTable(name: string): CreateTableCommandInput {
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', PK, SK].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: INDEX,
        KeySchema: [
          { AttributeName: PK, KeyType: 'HASH' },
          { AttributeName: SK, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name'] },
      },
    ],
  };
}

/**
 * Sensors with the keys of their place as attributes: each change is one conditional write of one item, and DynamoDB
 * updates the index. Lists are eventually consistent.
 */
export function sparseIndexRegister(client: DynamoDBDocumentClient, table: string): SensorRegister {
  const keyOf = (id: string) => ({ TableName: table, Key: SENSOR.format({ id }) });
  const exists = { ConditionExpression: 'attribute_exists(pk)' };

  return {
    async create({ id, name, place: given }) {
      const place = normalized(given);
      const Item = { ...SENSOR.format({ id }), ...SENSOR.indexes.place.format({ id, place }), name, place };
      await client.send(new PutCommand({ TableName: table, Item, ConditionExpression: 'attribute_not_exists(pk)' }));
    },

    async find(id) {
      const { Item } = await client.send(new GetCommand({ ...keyOf(id), ConsistentRead: true }));
      return Item && { id, name: String(Item['name']), place: Item['place'] as readonly string[] };
    },

    async move(id, given) {
      const place = normalized(given);
      const { [PK]: pk, [SK]: sk } = SENSOR.indexes.place.format({ id, place });
      // Without a place it leaves the index.
      const keys = pk === undefined ? ` REMOVE ${PK}, ${SK}` : `, ${PK} = :pk, ${SK} = :sk`;
      await client.send(
        new UpdateCommand({
          ...keyOf(id),
          ...exists,
          UpdateExpression: `SET #place = :place${keys}`,
          ExpressionAttributeNames: { '#place': 'place' },
          ExpressionAttributeValues: { ':place': place, ...(pk === undefined ? {} : { ':pk': pk, ':sk': sk }) },
        }),
      );
    },

    async rename(id, name) {
      await client.send(
        new UpdateCommand({
          ...keyOf(id),
          ...exists,
          UpdateExpression: 'SET #name = :name',
          ExpressionAttributeNames: { '#name': 'name' },
          ExpressionAttributeValues: { ':name': name },
        }),
      );
    },

    async calibrate(id, at) {
      await client.send(
        new UpdateCommand({
          ...keyOf(id),
          ...exists,
          UpdateExpression: 'SET calibratedAt = :at',
          ExpressionAttributeValues: { ':at': at },
        }),
      );
    },

    async remove(id) {
      await client.send(new DeleteCommand({ ...keyOf(id), ...exists }));
    },

    async sensorsIn(place, { limit, after }) {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName: INDEX,
          ...placeCondition(place, PK, SK),
          Limit: limit,
          ExclusiveStartKey: after,
        }),
      );
      return {
        sensors: Items.flatMap((item) => listedSensor(item[PK], item[SK], item['name'])),
        next: LastEvaluatedKey,
      };
    },
  };
}
