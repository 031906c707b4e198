import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { RejectsFile } from '../../src/ingest/read/rejects.js';
import { importReadings } from '../../src/ingest/readings/import-readings.js';
import { readingReader } from '../../src/ingest/readings/reading-row.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { injectFaults } from '../support/faults.js';
import { newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const shared = await testDatabase('readable');

test.each(['BatchGetItem', 'BatchWriteItem', 'TransactWriteItems'])(
  'an import of readings waits while DynamoDB throttles %s',
  async (operation) => {
    const database = newDatabase('readable', { tables: shared.tables });
    const folder = await mkdtemp(join(tmpdir(), 'cellport-files-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const now = new Date();
    const key = operation.toLowerCase();
    const collection = await testCollection(shared, { key, name: 'x' }, now.toISOString());
    await createMarkers(newCall(shared), collection, [{ key: 'a', position: { lng: 1, lat: 2 } }], now.toISOString());
    const path = join(folder, 'r.csv');
    await writeFile(path, `marker,at,c\na,${now.toISOString()},1\n`);
    injectFaults(
      database,
      operation,
      Array.from({ length: 6 }, () => 'throttled' as const),
    );
    const counts = await importReadings({
      collection,
      rows: readingReader(path, 'csv', {}).rows(),
      size: 100,
      rejects: new RejectsFile(`${path}.rejects`),
      now: () => now,
      onProgress: () => undefined,
      call: newCall(database),
    });
    expect(counts.recorded).toBe(1);
  },
);
