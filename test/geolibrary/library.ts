import { readFileSync } from 'node:fs';
import { BatchWriteItemCommand, CreateTableCommand } from '@aws-sdk/client-dynamodb';

import type { Point } from '../../src/geo/point.js';
import type { Database } from '../../src/store/database.js';
import { chunks } from '../../src/store/request/concurrency.js';

type Wire = Record<string, unknown>;

interface Fixture {
  readonly lengths: readonly number[];
  readonly points: readonly {
    readonly geohash: string;
    readonly longitudeFirst: string;
    readonly latitudeFirst: string;
    readonly hashKeys: readonly string[];
    readonly others: Readonly<Record<string, Wire>>;
  }[];
  /** West, south, east, north; and for each length the keys that the library found, or its error. */
  readonly boxes: readonly {
    readonly box: readonly [number, number, number, number];
    readonly answers: readonly (readonly number[] | string)[];
  }[];
}

/** What the package dynamodb-geo 0.4.0 wrote and answered; see fixture/make.ts. */
export const LIBRARY = JSON.parse(readFileSync(new URL('fixture/library.json', import.meta.url), 'utf8')) as Fixture;

/** The positions of the points; a point's key is its index in this list. */
export const POSITIONS: readonly Point[] = LIBRARY.points.map(({ longitudeFirst }) => {
  const { coordinates } = JSON.parse(longitudeFirst) as { coordinates: [number, number] };
  return { lng: coordinates[0], lat: coordinates[1] };
});

export interface Written {
  readonly length: number;
  readonly order: 'longitude first' | 'latitude first';
  /** Names other than the library's defaults. */
  readonly names?: {
    readonly hashKey: string;
    readonly rangeKey: string;
    readonly geohash: string;
    readonly geoJson: string;
  };
  readonly index?: string;
}

const OWN_NAMES = { hashKey: 'hashKey', rangeKey: 'rangeKey', geohash: 'geohash', geoJson: 'geoJson' };

/** The items of a table as the library wrote them. */
export function libraryItems({ length, order, names = OWN_NAMES }: Written): Wire[] {
  const at = LIBRARY.lengths.indexOf(length);
  return LIBRARY.points.map(({ geohash, longitudeFirst, latitudeFirst, hashKeys, others }, index) => ({
    ...others,
    [names.hashKey]: { N: hashKeys[at] },
    [names.rangeKey]: { S: String(index) },
    [names.geohash]: { N: geohash },
    [names.geoJson]: { S: order === 'longitude first' ? longitudeFirst : latitudeFirst },
  }));
}

/** Creates a table as the library does, with these items. */
export async function makeGeoTable(
  { client }: Database,
  table: string,
  items: readonly Wire[],
  { names = OWN_NAMES, index = 'geohash-index' }: Pick<Written, 'names' | 'index'> = {},
): Promise<void> {
  const hash = { KeyType: 'HASH', AttributeName: names.hashKey } as const;
  const made = client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [hash, { KeyType: 'RANGE', AttributeName: names.rangeKey }],
      AttributeDefinitions: [
        { AttributeName: names.hashKey, AttributeType: 'N' },
        { AttributeName: names.rangeKey, AttributeType: 'S' },
        { AttributeName: names.geohash, AttributeType: 'N' },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: index,
          KeySchema: [hash, { KeyType: 'RANGE', AttributeName: names.geohash }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
  // On a slow machine the SDK may send the command twice.
  await made.catch((error: Error) => {
    if (error.name !== 'ResourceInUseException') throw error;
  });
  for (const batch of chunks(items, 25)) {
    const requests = batch.map((Item) => ({ PutRequest: { Item } }));
    await client.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: requests } } as ConstructorParameters<
        typeof BatchWriteItemCommand
      >[0]),
    );
  }
}
