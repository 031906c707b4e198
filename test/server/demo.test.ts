import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import type { Backend } from '../../src/server/backend.js';
import { type DemoOptions, openDemo } from '../../src/server/demo.js';
import { createStreamsClient } from '../../src/stream/dynamodb.js';
import { engine, testDatabase } from '../support/test-database.js';

const CITIES = 1_600;
const folder = mkdtempSync(join(tmpdir(), 'cellport-demo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const backend: Backend = {
  database: await testDatabase(),
  streams: createStreamsClient(engine()),
  where: '',
  storageFault: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

const stopBeforeCountries = (): never => {
  throw new Error('the cities are there');
};

/** Loads the cities; returns how many were there each time that the load waited for the cells. */
async function load(
  onProgress: DemoOptions['onProgress'],
): Promise<{ waited: readonly number[]; reason: string | null }> {
  const demo = await openDemo(readConfig({}, { CELLPORT_DATA_DIR: folder }), backend, 'table', CITIES);
  const waited: number[] = [];
  const cells = {
    status: () => expect.fail('not asked'),
    caughtUp: async () => void waited.push(demo.readiness().cities),
    stop: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  const loading = demo.load(cells, { signal, onChecked: () => undefined, onProgress, onCities: stopBeforeCountries });
  await loading.catch(() => undefined);
  return { waited, reason: demo.readiness().reason };
}

test('a load that is resumed tells at once what had been written, and does not wait for the cells before it goes on', async () => {
  const stopped = await load(({ counts }) => {
    if (counts.created > 0) throw new Error('stopped after the first window');
  });
  expect(stopped.reason).toBe('stopped after the first window');
  const seen: number[] = [];
  const { waited, reason } = await load(({ counts }) => void seen.push(counts.created + counts.unchanged));
  expect({ reason, waited }).toEqual({ reason: 'the cities are there', waited: [CITIES] });
  expect(seen[0]).toBeGreaterThan(0);
}, 60_000);
