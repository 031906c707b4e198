import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';

import type { RepartitionProgress } from '../../src/jobs/layout-phase.js';
import type { Layout, LayoutPhase } from '../../src/model/collection.js';
import type { Properties } from '../../src/model/marker.js';
import type { CollectionInput } from '../../src/store/collection/collection-item.js';
import { beginLayoutChange, undoLayoutChange } from '../../src/store/collection/layout-change.js';
import { newCall } from '../../src/store/database.js';
import { newMarkerItem } from '../../src/store/marker/marker-item.js';
import { putMarkersInBulk } from '../../src/store/marker/markers.js';
import { NOW } from '../map/fixture.js';
import { allItems, consumeThroughout, markerEntries, storedEntries, untilRead } from '../stream/support.js';
import { randomFrom } from '../support/random.js';
import { inTurn, rounds, runsAll } from '../support/rounds.js';
import { engine, testCollection, testDatabase } from '../support/test-database.js';
import { currentCollection, Fleet, markerAt } from './repartition-clients.js';
import type { WorkerMessage, WorkerOptions } from './repartition-worker.js';

const db = await testDatabase('readable', { stream: true });
const consumer = consumeThroughout(db);

const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));

/** A collection of markers that stay, and clients that change others and compare what they read. */
async function begin(
  input: Partial<CollectionInput> & { readonly key: string },
  markers: number,
  clients = rounds('clientsOfLayout'),
) {
  const random = randomFrom(seed);
  const collection = await testCollection(db, { name: input.key, ...input }, NOW);
  const steady = new Map(Array.from({ length: markers }, (_, n) => [`steady-${n}`, markerAt(random)]));
  const items = [...steady].map(([key, input]) => newMarkerItem(db, collection, { key, ...input }, NOW));
  await putMarkersInBulk(newCall(db), items);
  await untilRead(db);
  const fleet = new Fleet(db, input.key, steady, () => consumer.status());
  for (let client = 0; client < clients; client += 1) fleet.start(seed + client);
  return fleet;
}

/** Runs the job in a process of its own; resolves with its exit code, or the signal that ended it. */
async function work(
  fleet: Fleet,
  key: string,
  maxWcu: number,
  onProgress: (progress: RepartitionProgress, worker: ChildProcess) => void,
) {
  const options: WorkerOptions = { engine: engine(), tables: db.tables, key, maxWcu };
  const program = join(inject('compiled'), 'test/jobs/repartition-worker.js');
  const worker = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  worker.on('message', (message: WorkerMessage) => {
    if ('progress' in message) onProgress(message.progress, worker);
    else void fleet.settle().then(() => worker.connected && worker.send('settled', () => undefined));
  });
  const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
  return signal ?? code;
}

/** Asserts that every marker of a collection is in the index of its layout, with its map properties, and in no other. */
async function expectOneLayout(key: string, wanted: Partial<Layout>) {
  const collection = await currentCollection(db, key);
  expect(collection).toMatchObject(wanted);
  expect(collection).not.toHaveProperty('layoutChange');
  const items = (await allItems(db, db.tables.entities)).filter(({ pk }) => String(pk).startsWith(`marker::${key}::`));
  expect(items.length).toBeGreaterThan(100);
  for (const item of items) {
    const own = db.keys.parseMarker({ pk: String(item['pk']), sk: String(item['sk']) })!;
    const position = { lng: Number(item['lng']), lat: Number(item['lat']) };
    const properties = (item['properties'] ?? item['m']) as Properties;
    const made = newMarkerItem(db, collection, { key: own.key, position, properties }, NOW);
    const entries = ['gpkA', 'gskA', 'gpkB', 'gskB', 'm', 'mc', 'properties'].map((name) => [name, item[name]]);
    expect(entries).toEqual(entries.map(([name]) => [name, made[String(name)]]));
  }
  return collection;
}

const phases: readonly LayoutPhase[] = ['FILL', 'SWITCH', 'DRAIN'];

describe('the layout of a collection', () => {
  /** One process is killed, or one change undone: each takes a minute. */
  const turn = inTurn(2);
  const killed = [
    {
      key: 'killed',
      // Few partitions, as clients read all of them again and again.
      from: { prefixLength: 0, writeShards: 2, mapProperties: ['a', 'c'] },
      target: { prefixLength: 1, writeShards: 1, mapProperties: ['b', 'c', 'd'] },
      slot: 'B',
    },
    {
      key: 'redrawn',
      from: { prefixLength: 1, mapProperties: ['a', 'c'] },
      target: { mapProperties: ['b', 'c', 'd'] },
      slot: 'A',
    },
  ] as const;
  // Another one in each run, if not both.
  test.runIf(turn()).each(killed.map((_, at) => killed[(seed + at) % 2]!).slice(0, rounds('killedRepartitions')))(
    `changes from $from to $target while it is read and written and the process is killed again and again: every viewport has every marker once, with the properties that a map draws (seed ${seed})`,
    async ({ key, from, target, slot }) => {
      const fleet = await begin({ key, ...from }, rounds('steadyMarkers'));
      await beginLayoutChange(newCall(db), key, target);
      // While waiting and while working, in each phase that works.
      const all = ['FILL work', 'DRAIN wait', 'DRAIN work', 'FILL wait', 'SWITCH wait', 'DRAIN work', 'FILL work'];
      const order = ['FILL', 'SWITCH', 'DRAIN'];
      const kills = all
        .slice(0, rounds('killsOfRepartition'))
        .toSorted((a, b) => order.indexOf(a.split(' ')[0] ?? '') - order.indexOf(b.split(' ')[0] ?? ''));
      const random = randomFrom(seed);
      let end: string | number | null;
      let skipped = 0;
      do {
        skipped = Math.floor(random() * 30);
        end = await work(fleet, key, 1_500, ({ phase, part }, worker) => {
          if (kills[0] !== `${phase} ${part === undefined ? 'wait' : 'work'}` || worker.killed) return;
          if (part !== undefined && (skipped -= 1) >= 0 && part < 1) return;
          kills.shift();
          worker.kill('SIGKILL');
        });
      } while (end === 'SIGKILL');
      expect(end).toBe(0);
      expect(kills).toEqual([]);
      // On a busy machine, it may take longer than the change.
      await expect.poll(() => Math.min(fleet.compared.INDEX, fleet.compared.PAGES)).toBeGreaterThan(5);
      await fleet.stop();
      expect((await expectOneLayout(key, target)).geoSlot).toBe(slot);
      await untilRead(db);
      expect(await storedEntries(db)).toEqual(await markerEntries(db));
    },
  );

  const changes = [
    { before: { prefixLength: 1, writeShards: 1 }, after: { prefixLength: 0, writeShards: 2 } },
    { before: { prefixLength: 0, mapProperties: ['a', 'c'] }, after: { mapProperties: ['b', 'c'] } },
    { before: { prefixLength: 1, mapProperties: ['a'] }, after: { prefixLength: 0, mapProperties: ['b', 'd'] } },
  ];
  const all = changes.flatMap((change) => phases.map((undoneIn) => ({ ...change, undoneIn })));
  // Others in each run; each next one is of the next kind, in another phase.
  const undos = all.map((_, at) => all[(seed + 4 * at) % all.length]!).slice(0, rounds('undosOfRepartition'));
  test.runIf(turn()).each(undos)(
    'returns to $before when the change to $after is undone in phase $undoneIn, and can then change again',
    async ({ before, after, undoneIn }) => {
      const key = `undone-${undoneIn}-${Object.keys(before).join('-')}`.toLowerCase();
      const fleet = await begin({ key, ...before }, 120);
      await beginLayoutChange(newCall(db), key, after);
      let undone: Promise<unknown> | undefined;
      const end = await work(fleet, key, 2_000, ({ phase, part }) => {
        if (phase === undoneIn && (part !== undefined || phase === 'SWITCH')) {
          undone ??= undoLayoutChange(newCall(db), key);
        }
      });
      expect(end).toBe(0);
      await undone;
      expect(undone).toBeDefined();
      await expectOneLayout(key, before);
      await beginLayoutChange(newCall(db), key, after);
      expect(await work(fleet, key, 40_000, () => undefined)).toBe(0);
      await fleet.stop();
      await expectOneLayout(key, after);
    },
  );

  test.runIf(runsAll)('changes from and to more partitions than can be read', async () => {
    // Without clients: a map of so many partitions cannot be read from the index either.
    const fleet = await begin({ key: 'deep', prefixLength: 5, writeShards: 2 }, 120, 0);
    await beginLayoutChange(newCall(db), 'deep', { prefixLength: 4, writeShards: 1 });
    expect(await work(fleet, 'deep', 40_000, () => undefined)).toBe(0);
    await fleet.stop();
    await expectOneLayout('deep', { prefixLength: 4, writeShards: 1 });
  });
});
