import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  QueryCommand,
  type CreateTableCommandInput,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';

import { startEngine } from '../../src/engine/start.js';
import { chunks, mapConcurrently } from '../../src/store/request/pacing.js';
import type { BenchMarker } from './points.js';

interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

interface Put {
  readonly RangeKeyValue: { readonly S: string };
  readonly GeoPoint: GeoPoint;
  readonly PutItemInput: { readonly Item: Record<string, unknown> };
}

/** The part of dynamodb-geo's API used here. */
export interface PeerPackage {
  readonly GeoDataManagerConfiguration: new (client: object, table: string) => { hashKeyLength: number };
  readonly GeoDataManager: new (configuration: object) => {
    queryRectangle(input: { MinPoint: GeoPoint; MaxPoint: GeoPoint }): Promise<readonly { rangeKey: { S: string } }[]>;
    queryRadius(input: {
      CenterPoint: GeoPoint;
      RadiusInMeter: number;
    }): Promise<readonly { rangeKey: { S: string } }[]>;
    batchWritePoints(puts: readonly Put[]): { promise(): Promise<unknown> };
  };
  readonly GeoTableUtil: { getCreateTableRequest(configuration: object): CreateTableCommandInput };
}

const FOLDER = new URL('../peer/', import.meta.url);
/** The table that it creates. */
const PEER_TABLE = 'peer';
/** A map that takes more Query calls is abandoned. */
export const MOST_QUERIES = 2_000;

/** Installs what Cellport is measured against from the registry on first use. */
export function installPeers(): void {
  if (existsSync(new URL('node_modules/supercluster', FOLDER))) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'ignore' });
}

/** The package. */
export function loadPeer(): PeerPackage {
  installPeers();
  return createRequire(new URL('package.json', FOLDER))('dynamodb-geo') as PeerPackage;
}

/**
 * A client in the form that the package expects, over the same SDK version as Cellport's, and counters of its requests.
 */
function countingClient(client: DynamoDBClient) {
  const seen = { queries: 0, readUnits: 0 };
  return {
    seen,
    query: (input: QueryCommandInput) => ({
      async promise(): Promise<QueryCommandOutput> {
        if (++seen.queries > MOST_QUERIES) throw new Error(`more than ${MOST_QUERIES} Query calls`);
        const { ExclusiveStartKey: start, ...rest } = input;
        const output = await client.send(new QueryCommand(start ? { ...rest, ExclusiveStartKey: start } : rest));
        seen.readUnits += Math.max(0.5, output.ConsumedCapacity?.CapacityUnits ?? 0);
        return output;
      },
    }),
    batchWriteItem: (input: ConstructorParameters<typeof BatchWriteItemCommand>[0]) => ({
      promise: () => client.send(new BatchWriteItemCommand(input)),
    }),
  };
}

/** Attributes of a marker in either table, besides its keys and position. */
export const attributesOf = ({ name, category, properties }: BenchMarker) => ({ name, category, ...properties });

/** Strings and numbers as DynamoDB attribute values. */
const onTheWire = (attributes: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'number' ? { N: String(value) } : { S: String(value) },
    ]),
  );

/** A table of the package with these markers, in a new engine, and counters of its requests. */
export async function fillPeer(peer: PeerPackage, length: number, markers: readonly BenchMarker[]) {
  const engine = await startEngine({ dataDir: null });
  const { endpoint, region, credentials } = engine;
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const counting = countingClient(client);
  const configuration = new peer.GeoDataManagerConfiguration(counting, PEER_TABLE);
  configuration.hashKeyLength = length;
  const manager = new peer.GeoDataManager(configuration);
  await client.send(new CreateTableCommand(peer.GeoTableUtil.getCreateTableRequest(configuration)));
  const puts = markers.map((marker) => ({
    RangeKeyValue: { S: marker.key },
    GeoPoint: { latitude: marker.position.lat, longitude: marker.position.lng },
    PutItemInput: { Item: onTheWire(attributesOf(marker)) },
  }));
  await mapConcurrently(chunks(puts, 25), 12, (batch) => manager.batchWritePoints(batch).promise());
  return {
    manager,
    seen: counting.seen,
    close: async () => {
      client.destroy();
      await engine.close();
    },
  };
}
