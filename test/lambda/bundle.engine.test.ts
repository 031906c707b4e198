import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { expect, test } from 'vitest';

import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { newReadingItem } from '../../src/store/reading/reading-item.js';
import { putInBulk } from '../../src/store/request/batches.js';
import { countedCells, markerEntries, markerItem, storedCells, storedEntries } from '../stream/support.js';
import { fakeCloudFront } from '../support/fake-cloudfront.js';
import { engineProxy } from '../support/proxy.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const config = fileURLToPath(new URL('../../scripts/lambda.vite.config.mjs', import.meta.url));
const NOW = '2026-11-21T10:00:00.000Z';
const DAYS_AGO = new Date(Date.now() - 3 * 24 * 3_600_000).toISOString();
const db = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();

test('the function is one file that needs no node_modules, and just the permissions that `cellport iam` prints', async () => {
  await build({ configFile: config, mode: 'stream', build: { outDir: join(folder, 'built') } });
  await copyFile(join(folder, 'built/stream.mjs'), join(folder, 'index.mjs'));
  const collection = await testCollection(db, { key: 'a', name: 'A', readingsSummarized: true }, NOW);
  const marker = newMarkerItem(db, collection, { key: 'one', position: { lng: 1, lat: 2 } }, NOW);
  const owner = { collection, key: 'one', incarnation: String(marker['life']) };
  const reading = newReadingItem(db, owner, { at: DAYS_AGO, values: { t: 5 } }, Date.now());
  const markers = Array.from({ length: 50 }, (_, n) => markerItem(db, 'parks', `m${n}`, n, n / 2));
  const poison = { ...db.keys.marker('parks', 'odd'), lng: 'east' };
  await putInBulk(newCall(db), db.tables.entities, [marker, reading ?? {}, poison, ...markers]);

  const operations = new Set<string>();
  const proxy = engineProxy((operation) => (operations.add(operation), false));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const cdn = await fakeCloudFront();
  const env = {
    ...engineSettings(),
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS: url,
    CELLPORT_TABLE: db.tables.entities,
    CELLPORT_CDN: 'cloudfront:E5TESTS',
    AWS_ENDPOINT_URL_CLOUDFRONT: cdn.endpoint,
    PATH: process.env['PATH'],
  };
  // The second call summarizes the day that the first one has found.
  const program = `import('./index.mjs').then(async ({ handler }) => {
    await handler({});
    console.log(JSON.stringify(await handler({})));
  })`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: folder, env });
  proxy.close();
  proxy.closeAllConnections();
  cdn.close();
  expect(cdn.asked[0]).toMatchObject({ distribution: 'E5TESTS', paths: ['#cellport:all'] });
  expect(JSON.parse(stdout)).toEqual({ batchItemFailures: [] });
  expect(Object.keys(await storedCells(db))).not.toEqual([]);
  expect(await storedCells(db)).toEqual(await countedCells(db));
  expect(await storedEntries(db)).toEqual(await markerEntries(db));

  const { output } = await runCliHere(['iam', '--role', 'consumer', '--table', db.tables.entities], {});
  const { Statement } = JSON.parse(output) as { Statement: readonly { Action: readonly string[] }[] };
  const allowed = Statement.flatMap(({ Action }) => Action.map((name) => name.replace('dynamodb:', '')));
  const made = [...operations].flatMap((name) =>
    name === 'BatchExecuteStatement' ? ['PartiQLInsert', 'PartiQLUpdate'] : name,
  );
  expect(made.toSorted()).toEqual(allowed.toSorted());
});
