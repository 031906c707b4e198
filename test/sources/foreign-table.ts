import { CreateTableCommand, DeleteItemCommand, PutItemCommand, type StreamViewType } from '@aws-sdk/client-dynamodb';

import type { TableKeyAttribute } from '../../src/model/collection.js';
import type { Database, Item } from '../../src/store/database.js';
import { wireOf } from '../../src/store/request/wire.js';

type WireItem = NonNullable<ConstructorParameters<typeof PutItemCommand>[0]['Item']>;

/** Creates a table as its owner would, without a stream unless it has a view type. */
export async function createTable(
  db: Database,
  name: string,
  key: readonly TableKeyAttribute[],
  view?: StreamViewType,
): Promise<void> {
  await db.client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key.map((each, at) => ({ AttributeName: each.name, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
      AttributeDefinitions: key.map((each) => ({ AttributeName: each.name, AttributeType: each.type })),
      ...(view === undefined ? {} : { StreamSpecification: { StreamEnabled: true, StreamViewType: view } }),
    }),
  );
}

/** Puts an item as its owner would. */
export async function putItem(db: Database, table: string, item: Item): Promise<void> {
  await db.client.send(new PutItemCommand({ TableName: table, Item: wireOf(item)['M'] as WireItem }));
}

/** Deletes an item as its owner would. */
export async function deleteItem(db: Database, table: string, key: Item): Promise<void> {
  await db.client.send(new DeleteItemCommand({ TableName: table, Key: wireOf(key)['M'] as WireItem }));
}
