// A small service with a table in its own style: shops, and the orders of each. It knows nothing of Cellport.

import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

const TableName = 'my-app';
const shopKey = (id) => ({ PK: `SHOP#${id}`, SK: 'META' });

/** The service, over a database that `connection` leads to, as for any client of the AWS SDK. */
export class Shops {
  #client;

  constructor(connection = {}) {
    this.#client = DynamoDBDocumentClient.from(new DynamoDBClient(connection));
  }

  /** Creates the table. Cellport needs its stream, with both images. */
  createTable() {
    return this.#client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'PK', KeyType: 'HASH' },
          { AttributeName: 'SK', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'PK', AttributeType: 'S' },
          { AttributeName: 'SK', AttributeType: 'S' },
        ],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
  }

  open(id, title, kind, lon, lat) {
    const Item = { ...shopKey(id), title, kind, location: { lon, lat }, open: true, phone: `+49 30 ${id}` };
    return this.#client.send(new PutCommand({ TableName, Item }));
  }

  close(id) {
    const UpdateExpression = 'SET #open = :no';
    const ExpressionAttributeNames = { '#open': 'open' };
    const ExpressionAttributeValues = { ':no': false };
    return this.#client.send(
      new UpdateCommand({
        TableName,
        Key: shopKey(id),
        UpdateExpression,
        ExpressionAttributeNames,
        ExpressionAttributeValues,
      }),
    );
  }

  order(id, number, total) {
    const Item = { PK: `SHOP#${id}`, SK: `ORDER#${number}`, total };
    return this.#client.send(new PutCommand({ TableName, Item }));
  }

  stop() {
    this.#client.destroy();
  }
}
