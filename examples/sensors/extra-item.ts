import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type DynamoDBDocumentClient,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';

import { listedSensor, normalized, PLACE_ENTRY, placeCondition, SENSOR } from './keys.js';
import type { Sensor, SensorRegister } from './register.js';

type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** A sensor as read, with a token for this state. */
interface Stored extends Sensor {
  readonly revision: string;
}

const ATTEMPTS = 12;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/** The table: sensors, and next to them the entries for their places. */
export function extraItemTable(name: string): CreateTableCommandInput {
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  };
}

/**
 * Sensors with a separate entry for their place, both written in one transaction. Removing an entry requires knowing
 * its place, so every change reads the sensor first and starts over after a concurrent change. Lists are strongly
 * consistent.
 */
export function extraItemRegister(client: DynamoDBDocumentClient, table: string): SensorRegister {
  const keyOf = (id: string) => ({ TableName: table, Key: SENSOR.format({ id }) });
  const transact = (TransactItems: Writes) => client.send(new TransactWriteCommand({ TransactItems }));
  const hangs = ({ place }: Sensor) => place.length > 0;
  const entryKey = ({ id, place }: Sensor) => PLACE_ENTRY.format({ id, place });
  const entry = (sensor: Sensor): Writes =>
    hangs(sensor) ? [{ Put: { TableName: table, Item: { ...entryKey(sensor), name: sensor.name } } }] : [];
  const noEntry = (sensor: Sensor): Writes =>
    hangs(sensor) ? [{ Delete: { TableName: table, Key: entryKey(sensor) } }] : [];

  async function read(id: string): Promise<Stored | undefined> {
    const { Item } = await client.send(new GetCommand({ ...keyOf(id), ConsistentRead: true }));
    return (
      Item && {
        id,
        name: String(Item['name']),
        place: Item['place'] as readonly string[],
        revision: String(Item['revision']),
      }
    );
  }

  /** Reads a sensor and writes all resulting changes, on the condition that the sensor has not changed. */
  async function change(id: string, writesFor: (found: Stored) => Writes): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const found = await read(id);
      if (found === undefined) throw new Error(`there is no sensor ${id}`);
      try {
        await transact(writesFor(found));
        return;
      } catch (error) {
        // The condition failed, or another transaction is in progress on one of the items.
        if (!(error instanceof TransactionCanceledException) || attempt + 1 === ATTEMPTS) throw error;
        await sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * Math.random());
      }
    }
  }

  // Not a counter: a sensor that was removed and created again would look like the earlier one, and the transaction
  // would remove the earlier entry and leave the new one.
  const asRead = ({ id, revision }: Stored) => ({
    ...keyOf(id),
    ConditionExpression: 'revision = :read',
    ExpressionAttributeValues: { ':read': revision },
  });

  function becomes(found: Stored, now: Sensor): Writes {
    const { ExpressionAttributeValues, ...rest } = asRead(found);
    const same =
      hangs(found) && hangs(now) && entryKey(found).pk === entryKey(now).pk && entryKey(found).sk === entryKey(now).sk;
    return [
      {
        Update: {
          ...rest,
          UpdateExpression: 'SET #name = :name, #place = :place, revision = :revision',
          ExpressionAttributeNames: { '#name': 'name', '#place': 'place' },
          ExpressionAttributeValues: {
            ...ExpressionAttributeValues,
            ':name': now.name,
            ':place': now.place,
            ':revision': randomUUID(),
          },
        },
      },
      ...(same ? [] : noEntry(found)),
      ...entry(now),
    ];
  }

  return {
    async create({ id, name, place: given }) {
      const sensor = { id, name, place: normalized(given) };
      const Item = { ...SENSOR.format({ id }), name, place: sensor.place, revision: randomUUID() };
      const put = { Put: { TableName: table, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
      await transact([put, ...entry(sensor)]);
    },

    async find(id) {
      const found = await read(id);
      return found && { id, name: found.name, place: found.place };
    },

    move: (id, place) => change(id, (found) => becomes(found, { ...found, place: normalized(place) })),

    rename: (id, name) => change(id, (found) => becomes(found, { ...found, name })),

    async calibrate(id, at) {
      await client.send(
        new UpdateCommand({
          ...keyOf(id),
          ConditionExpression: 'attribute_exists(pk)',
          UpdateExpression: 'SET calibratedAt = :at',
          ExpressionAttributeValues: { ':at': at },
        }),
      );
    },

    remove: (id) => change(id, (found) => [{ Delete: asRead(found) }, ...noEntry(found)]),

    async sensorsIn(place, { limit, after }) {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: table,
          ...placeCondition(place, 'pk', 'sk'),
          ConsistentRead: true,
          Limit: limit,
          ExclusiveStartKey: after,
        }),
      );
      return { sensors: Items.flatMap(({ pk, sk, name }) => listedSensor(pk, sk, name)), next: LastEvaluatedKey };
    },
  };
}
