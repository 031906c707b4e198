import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';

import { newCall } from '../../../src/store/meter.js';
import { send } from '../../../src/store/send.js';
import { loadStreamState } from '../../../src/store/stream-state.js';
import { engine, testDatabase } from '../../support/test-database.js';
import { createChance } from '../simulation/world.js';
import { countedCells, markerItem, storedCells, untilRead } from '../support.js';
import type { WorkerOptions } from './worker.js';

const KILLS = 12;
const WRITERS = 4;

const db = await testDatabase();
const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
let child: ChildProcess | undefined;

function start(): void {
  const options: WorkerOptions = { engine: engine(), tables: db.tables };
  child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'worker.ts'), JSON.stringify(options)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
}

async function kill(): Promise<void> {
  const dying = child;
  if (dying === undefined || dying.exitCode !== null) return;
  const gone = once(dying, 'exit');
  dying.kill('SIGKILL');
  await gone;
}

afterAll(kill);

const batchNow = async () => (await loadStreamState(db, 'cells', newCall()))?.batch ?? 0;

test(`cells are exact after kill -9 at random moments while markers are written (seed ${seed})`, async () => {
  const chance = createChance(seed);
  let writing = true;
  async function write(): Promise<void> {
    while (writing) {
      const key = `m${chance.integer(1, 300)}`;
      const { pk, sk } = db.keys.marker('parks', key);
      if (chance.happens(0.2)) {
        await send(db, 'delete', { TableName: db.tables.entities, Key: { pk, sk } }, newCall());
        continue;
      }
      // Some near one another and some anywhere, on the meridian of 180 degrees too.
      const near = chance.happens(0.6);
      const lng = near ? 16.9 + chance.next() / 10 : chance.pick([180, -180, chance.next() * 360 - 180]);
      const lat = near ? 52.4 + chance.next() / 10 : chance.next() * 180 - 90;
      await send(db, 'put', { TableName: db.tables.entities, Item: markerItem(db, 'parks', key, lng, lat) }, newCall());
    }
  }
  const writers = Array.from({ length: WRITERS }, write);
  start();
  for (let kills = 0; kills < KILLS; kills += 1) {
    // Only a process that has got to work is worth killing.
    const before = await batchNow();
    while ((await batchNow()) === before) await sleep(10);
    await sleep(chance.next() * 150);
    await kill();
    start();
  }
  writing = false;
  await Promise.all(writers);
  await untilRead(db);

  const state = await loadStreamState(db, 'cells', newCall());
  expect(state?.gap).toBeNull();
  expect(await storedCells(db)).toEqual(await countedCells(db));
}, 300_000);
