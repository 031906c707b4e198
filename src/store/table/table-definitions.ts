import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';

import type { Tables } from '../database.js';

/** One of the two tables as it has to be. */
export interface TableDefinition {
  readonly request: CreateTableCommandInput;
  /** Attribute by whose time (seconds since 1970) DynamoDB removes items. */
  readonly ttl: string | null;
}

/** What a map draws of a marker, beside the keys: all that viewports read without touching base items. */
export const DRAWN_ATTRIBUTES: readonly string[] = ['lng', 'lat', 'name', 'category', 'mv', 'm', 'mc'];

function index(name: string, partition: string, sort: string | null, drawn: boolean): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: [
      { AttributeName: partition, KeyType: 'HASH' },
      ...(sort === null ? [] : [{ AttributeName: sort, KeyType: 'RANGE' as const }]),
    ],
    Projection: drawn
      ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...DRAWN_ATTRIBUTES] }
      : { ProjectionType: 'KEYS_ONLY' },
  };
}

const INDEXES: readonly GlobalSecondaryIndex[] = [
  index('geoA', 'gpkA', 'gskA', true),
  index('geoB', 'gpkB', 'gskB', true),
  index('place', 'ppk', 'psk', true),
  index('global', 'globalId', null, false),
];

const BASE_KEY = [
  { AttributeName: 'pk', KeyType: 'HASH' },
  { AttributeName: 'sk', KeyType: 'RANGE' },
] as const;

function keyAttributes(indexes: readonly GlobalSecondaryIndex[]): readonly string[] {
  const schemas = [BASE_KEY, ...indexes.map(({ KeySchema }) => KeySchema ?? [])];
  return schemas.flat().map(({ AttributeName }) => AttributeName ?? '');
}

/**
 * The two tables as data: what is made where it is missing, and what an existing table is compared with. The derived
 * table has no stream, so that its writer never feeds itself.
 */
export function tableDefinitions(tables: Tables): readonly TableDefinition[] {
  const attributes = (indexes: readonly GlobalSecondaryIndex[]) =>
    keyAttributes(indexes).map((name) => ({ AttributeName: name, AttributeType: 'S' as const }));
  return [
    {
      request: {
        TableName: tables.entities,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [...BASE_KEY],
        AttributeDefinitions: attributes(INDEXES),
        GlobalSecondaryIndexes: [...INDEXES],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      },
      ttl: 'ttl',
    },
    {
      request: {
        TableName: tables.derived,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [...BASE_KEY],
        AttributeDefinitions: attributes([]),
      },
      // For what remembers records that the stream has long forgotten; cells have no such attribute.
      ttl: 'ttl',
    },
  ];
}
