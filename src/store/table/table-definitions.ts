import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb';

import { INDEXES, type IndexAttributes } from '../../keys/indexes.js';
import type { Tables } from '../database.js';

/** The schema required of one of the two tables. */
export interface TableDefinition {
  readonly request: CreateTableCommandInput;
  /** Attribute with the time (seconds since 1970) from which DynamoDB may remove an item. */
  readonly ttl: string;
}

/** The stream that the consumer reads. */
export const STREAM = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;

/** Attributes that a map draws, projected by the indexes so that viewports never read base items. */
export const DRAWN_ATTRIBUTES: readonly string[] = ['lng', 'lat', 'name', 'category', 'mv', 'm', 'mc'];

/** An index projects what a map draws if it is sorted, and only keys if it is for lookups. */
function secondaryIndex([name, { pk, sk }]: readonly [string, IndexAttributes]): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: [
      { AttributeName: pk, KeyType: 'HASH' },
      ...(sk === undefined ? [] : [{ AttributeName: sk, KeyType: 'RANGE' as const }]),
    ],
    Projection:
      sk === undefined
        ? { ProjectionType: 'KEYS_ONLY' }
        : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...DRAWN_ATTRIBUTES] },
  };
}

const SECONDARY_INDEXES = Object.entries(INDEXES).map(secondaryIndex);

export const BASE_KEY = [
  { AttributeName: 'pk', KeyType: 'HASH' },
  { AttributeName: 'sk', KeyType: 'RANGE' },
] as const;

function keyAttributes(indexes: readonly GlobalSecondaryIndex[]): readonly string[] {
  const schemas = [BASE_KEY, ...indexes.map(({ KeySchema }) => KeySchema ?? [])];
  return schemas.flat().map(({ AttributeName }) => AttributeName ?? '');
}

/**
 * The schemas of both tables: missing tables are created from them, and existing ones are compared with them. The
 * derived table has no stream, so that its writer never triggers itself.
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
        AttributeDefinitions: attributes(SECONDARY_INDEXES),
        GlobalSecondaryIndexes: SECONDARY_INDEXES,
        StreamSpecification: STREAM,
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
      // For what was published and pages have long included, and for the audit; cells have no such attribute.
      ttl: 'ttl',
    },
  ];
}
