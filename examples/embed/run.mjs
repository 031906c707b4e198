// A shop's own server, with Cellport in it.
//
//   npm run example:embed              in Apollo Server, with DynamoDB Local, until Ctrl-C
//   npm run example:embed -- yoga      in GraphQL Yoga
//   npm run example:embed -- fastify   as a handler in Fastify

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

import { build } from '../../scripts/build.mjs';
import { resolversOver, typeDefs } from './goods.mjs';

const SERVERS = ['apollo', 'yoga', 'fastify'];
const {
  positionals: [name = 'apollo'],
} = parseArgs({ allowPositionals: true });
if (!SERVERS.includes(name)) throw new Error(`there is no server ${name}: choose one of ${SERVERS.join(', ')}`);

await build({ ifNeeded: true });
const { createCellport } = await import('cellport/server');
const { startEngine } = await import('../../dist/engine/start.js');
const { serve } = await import(`./${name}.mjs`);

const SHOPS = [
  { key: 'bread', name: 'Bread', position: { lng: 13.4, lat: 52.52 } },
  { key: 'books', name: 'Books', position: { lng: 13.41, lat: 52.51 } },
];
// In its place, a database of your own answers one query for all keys.
const GOODS = new Map([
  ['bread', { sells: 'bread', price: 3.2 }],
  ['books', { sells: 'books', price: 12.5 }],
]);
const read = async (keys) => keys.map((key) => GOODS.get(key) ?? null);

const folder = await mkdtemp(join(tmpdir(), 'cellport-embed-'));
const engine = await startEngine({ dataDir: folder });
const { endpoint, region, credentials } = engine;
const client = new DynamoDBClient({ endpoint, region, credentials });
const settings = { CELLPORT_DATA_DIR: folder };
const cellport = await createCellport({ table: 'places', client, settings, typeDefs, resolvers: resolversOver(read) });
try {
  await cellport.execute({ query: 'mutation { createCollection(input: { key: "shops", name: "Shops" }) { key } }' });
  await cellport.markers.upsert('shops', SHOPS);
  const { url, close } = await serve(cellport, { port: Number(process.env.PORT ?? 4000) });
  const query = `{ viewport(bounds: { west: 13, south: 52, east: 14, north: 53 }, zoom: 10) {
    markers(collection: "shops") { nodes { name goods { sells price } } } } }`;
  console.log(`Shops in ${name}: ${url}\n\nTry: ${query}`);
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
  await close();
} finally {
  await cellport.close();
  client.destroy();
  await engine.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
