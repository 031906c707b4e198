import { readFileSync } from 'node:fs';
import { BatchWriteItemCommand, CreateTableCommand } from '@aws-sdk/client-dynamodb';

import type { Point } from '../../../src/geo/bounds.js';
import type { TableKeyAttribute } from '../../../src/model/collection.js';
import type { Database } from '../../../src/store/database.js';
import { chunks } from '../../../src/store/request/pacing.js';
import type { WireMap } from '../../../src/store/request/wire.js';

interface Fixture {
  readonly lengths: readonly number[];
  readonly points: readonly {
    readonly geohash: string;
    readonly longitudeFirst: string;
    readonly latitudeFirst: string;
    readonly hashKeys: readonly string[];
    readonly others: WireMap;
  }[];
}

/** What the package dynamodb-geo 0.4.0 writes; see fixture/make.ts. */
export const LIBRARY = JSON.parse(readFileSync(new URL('fixture/library.json', import.meta.url), 'utf8')) as Fixture;

/** The positions of the points; a point's key is its index in this list. */
export const POSITIONS: readonly Point[] = LIBRARY.points.map(({ longitudeFirst }) => {
  const { coordinates } = JSON.parse(longitudeFirst) as { coordinates: [number, number] };
  return { lng: coordinates[0], lat: coordinates[1] };
});

/** As the Java library writes it, and as its JavaScript port does. */
export const ORDERS = ['latitude first', 'longitude first'] as const;

export interface Written {
  readonly length: number;
  readonly order: (typeof ORDERS)[number];
}

/** The items of a table as the library wrote them, in wire format. */
export function libraryItems({ length, order }: Written): WireMap[] {
  const at = LIBRARY.lengths.indexOf(length);
  return LIBRARY.points.map(({ geohash, longitudeFirst, latitudeFirst, hashKeys, others }, index) => ({
    ...others,
    hashKey: { N: hashKeys[at] },
    rangeKey: { S: String(index) },
    geohash: { N: geohash },
    geoJson: { S: order === 'longitude first' ? longitudeFirst : latitudeFirst },
  }));
}

export const LIBRARY_KEY = [
  { name: 'hashKey', type: 'N' },
  { name: 'rangeKey', type: 'S' },
] as const satisfies readonly TableKeyAttribute[];

/** Creates a table as the library does, with these items and a stream. */
export async function makeGeoTable({ client }: Database, table: string, items: readonly WireMap[]): Promise<void> {
  const hash = { KeyType: 'HASH', AttributeName: 'hashKey' } as const;
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [hash, { KeyType: 'RANGE', AttributeName: 'rangeKey' }],
      AttributeDefinitions: [
        ...LIBRARY_KEY.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
        { AttributeName: 'geohash', AttributeType: 'N' },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: 'geohash-index',
          KeySchema: [hash, { KeyType: 'RANGE', AttributeName: 'geohash' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  for (const batch of chunks(items, 25)) {
    const requests = batch.map((Item) => ({ PutRequest: { Item } }));
    await client.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: requests } } as unknown as ConstructorParameters<
        typeof BatchWriteItemCommand
      >[0]),
    );
  }
}
