import { expect, test } from 'vitest';

import { createKeyspace } from '../../src/keys/keyspace.js';
import { silentLog } from '../../src/log.js';
import { Consumer } from '../../src/stream/consume/consumer.js';
import { EMBEDDED_LOAD_POLICY, LOAD_POLICY, type LoadPolicy } from '../../src/stream/consume/flood.js';
import { inTurn } from '../support/rounds.js';
import { DerivedModel } from './simulation/derived-model.js';
import { Process } from './simulation/process.js';
import { TableModel } from './simulation/table-model.js';
import { World } from './simulation/world.js';

const turn = inTurn(2);
const keys = createKeyspace('readable');
const PER_SECOND = 1_000;
const SECONDS = 6;

/** Blocks written while markers all over the world arrive, and the number of blocks afterwards. */
async function load(policy: LoadPolicy) {
  const world = new World(1);
  const table = new TableModel(world);
  table.faulty = false;
  const derived = new DerivedModel();
  const process = new Process(world, { refused: 0, answerLost: 0, slowestMs: 5, skewMs: 0 }, 'host:1');
  const consumer = new Consumer({
    ...process.ports(table, derived),
    pages: undefined,
    clock: process.clock(),
    keys,
    log: silentLog,
    self: process.name,
    since: () => Promise.resolve(0),
    load: policy,
  });
  const running = consumer.run(process.stop.signal);
  for (let index = 0; index < PER_SECOND * SECONDS; index += 1) {
    const { pk, sk } = keys.marker('parks', `m${index}`);
    const [lng, lat] = [world.chance.next() * 360 - 180, world.chance.next() * 180 - 90];
    const image = { lng: { N: String(lng) }, lat: { N: String(lat) } };
    world.schedule((index * 1_000) / PER_SECOND, () => table.write(pk, sk, image));
  }
  await world.run(() => derived.state?.records === PER_SECOND * SECONDS && derived.state.plan === null, 300_000);
  process.stop.abort();
  await world.run(() => false, 5_000);
  await running;
  return { written: derived.writes, blocks: derived.blocks.size, batches: derived.state?.batch ?? 0 };
}

test('a first load writes each block once, except those of the first counts if these should appear at once', async ({
  skip,
  task,
}) => {
  skip(!turn(task));
  const once = await load(LOAD_POLICY);
  expect(once.written).toBe(once.blocks);
  const early = await load(EMBEDDED_LOAD_POLICY);
  expect(early.blocks).toBe(once.blocks);
  expect(early.batches).toBe(once.batches + 1);
  expect(early.written).toBeGreaterThan(once.written);
});
