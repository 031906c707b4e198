// A service writes shops and orders into its own table, and Cellport shows the shops on a map.
//
//   npm run example:own-table          with DynamoDB Local, until Ctrl-C

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { build } from '../../scripts/build.mjs';
import { Shops } from './service.mjs';

const CITIES = [
  [13.4, 52.52],
  [9.99, 53.55],
  [11.58, 48.14],
  [6.96, 50.94],
];
const KINDS = ['bakery', 'café', 'books'];

await build({ ifNeeded: true });
const { startEngine } = await import('../../dist/engine/start.js');
const cellport = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const mapping = fileURLToPath(new URL('mapping.json', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'cellport-own-table-'));
const engine = await startEngine({ dataDir: folder });
const { endpoint, region, credentials } = engine;
const env = {
  ...process.env,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  CELLPORT_DATA_DIR: folder,
  CELLPORT_TABLE: 'places',
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
};
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

const shops = new Shops({ endpoint, region, credentials });
let server;
try {
  await shops.createTable();
  const openShop = (id) => {
    const [lon, lat] = CITIES[id % CITIES.length];
    const apart = () => (Math.random() - 0.5) / 4;
    return shops.open(id, `Shop ${id}`, KINDS[id % KINDS.length], lon + apart(), lat + apart());
  };
  for (let id = 1; id <= 200; id += 1) await openShop(id);
  const { stdout } = await promisify(execFile)(process.execPath, [cellport, 'source', 'create', 'shops', mapping], {
    env,
  });
  console.log(stdout);
  server = spawn(process.execPath, [cellport, 'serve'], { env, stdio: 'inherit' });
  server.once('exit', () => stopping.abort());
  // Every second, a shop opens, another one closes, and both sell something.
  for (let id = 201; !stopping.signal.aborted; id += 1) {
    await openShop(id);
    await shops.close(id - 200);
    await shops.order(id, 1, 12.5);
    await sleep(1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
} finally {
  if (server?.exitCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
  }
  shops.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}
