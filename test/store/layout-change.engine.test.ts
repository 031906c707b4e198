import { beforeAll, describe, expect, test } from 'vitest';

import { relocateMarker } from '../../src/jobs/fit-markers.js';
import type { Collection, LayoutPhase } from '../../src/model/collection.js';
import { createCollection, deleteCollection, getCollections } from '../../src/store/collection/collections.js';
import { beginLayoutChange, endPhase, undoLayoutChange } from '../../src/store/collection/layout-change.js';
import { whileLayoutStays } from '../../src/store/collection/watch-collection.js';
import { newCall } from '../../src/store/database.js';
import { updateMarker } from '../../src/store/marker/marker-update.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { upsertMarkers } from '../../src/store/marker/upsert.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { readItem } from '../../src/store/request/conditional-write.js';
import { testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-24T10:00:00.000Z';
const db = await testDatabase('readable');
const call = () => newCall(db);
const layoutOf = ({ prefixLength, writeShards, geoSlot, layoutChange: change }: Collection) => ({
  own: [geoSlot, prefixLength, writeShards],
  ...(change && { phase: change.phase, other: [change.prefixLength, change.writeShards] }),
});
const start = (key: string) =>
  testCollection(db, { key, name: key, prefixLength: 2, writeShards: 1 }, NOW).then(() =>
    beginLayoutChange(call(), key, { prefixLength: 3, writeShards: 4 }),
  );
const OLD = ['A', 2, 1];
const NEW = ['B', 3, 4];

describe('a change of a layout', () => {
  test('goes from phase to phase, each begun once', async () => {
    const fill = await start('phases');
    expect(layoutOf(fill)).toEqual({ own: OLD, phase: 'FILL', other: [3, 4] });
    const change = await endPhase(call(), fill);
    expect(layoutOf(change)).toEqual({ own: NEW, phase: 'SWITCH', other: [2, 1] });
    await expect(endPhase(call(), fill)).rejects.toThrow('has changed');
    const drain = await endPhase(call(), change);
    expect(layoutOf(drain)).toEqual({ own: NEW, phase: 'DRAIN', other: [2, 1] });
    const done = await endPhase(call(), drain);
    expect(layoutOf(done)).toEqual({ own: NEW });
    expect(await getCollections(call(), ['phases'], { consistent: true })).toEqual([done]);
  });

  test.each([
    ['FILL', { own: OLD, phase: 'DRAIN', other: [3, 4] }],
    ['SWITCH', { own: OLD, phase: 'SWITCH', other: [3, 4] }],
    ['DRAIN', { own: NEW, phase: 'FILL', other: [2, 1] }],
  ] as const)(
    'undone in phase %s leads back to the former layout, and undone again to the new one',
    async (phase, undone) => {
      const key = `undo-${phase.toLowerCase()}`;
      let now = await start(key);
      while (now.layoutChange?.phase !== (phase as LayoutPhase)) now = await endPhase(call(), now);
      const before = layoutOf(now);
      expect(layoutOf(await undoLayoutChange(call(), key))).toEqual(undone);
      expect(layoutOf(await undoLayoutChange(call(), key))).toEqual(before);
      now = await undoLayoutChange(call(), key);
      while (now.layoutChange !== undefined) now = await endPhase(call(), now);
      expect([now.prefixLength, now.writeShards]).toEqual([2, 1]);
    },
  );

  test('is refused for an invalid layout, the current one, an unknown collection, or during another change', async () => {
    const begin = (key: string, layout: object) => beginLayoutChange(call(), key, layout);
    await createCollection(call(), { key: 'refused', name: 'Refused' }, NOW);
    await expect(begin('refused', { prefixLength: 7 })).rejects.toThrow('integer from 0 to 6');
    await expect(begin('refused', { writeShards: 0 })).rejects.toThrow('integer from 1 to 32');
    await expect(begin('refused', { prefixLength: 2 })).rejects.toThrow('prefix length 2 with write shards 1');
    await expect(begin('refused', {})).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(begin('nowhere', { prefixLength: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(undoLayoutChange(call(), 'refused')).rejects.toMatchObject({ code: 'CONFLICT' });
    const begun = await begin('refused', { prefixLength: 1 });
    expect(layoutOf(await begin('refused', { prefixLength: 1 }))).toEqual(layoutOf(begun));
    await expect(begin('refused', { prefixLength: 3 })).rejects.toMatchObject({ code: 'CONFLICT' });
    await deleteCollection(call(), 'refused', NOW);
    await expect(endPhase(call(), begun)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('ends writes that depend on the layout', async () => {
    const before = await start('watched');
    await endPhase(call(), before);
    const write = async () => expect.fail('written');
    await expect(whileLayoutStays(call(), before, write)).rejects.toMatchObject({
      code: 'CONFLICT',
      collection: { geoSlot: 'B' },
    });
  });
});

describe('a marker', () => {
  const views: Partial<Record<LayoutPhase | 'before' | 'after', Collection>> = {};
  beforeAll(async () => {
    views.before = await createCollection(call(), { key: 'views', name: 'Views', prefixLength: 2 }, NOW);
    let now = await beginLayoutChange(call(), 'views', { prefixLength: 3, writeShards: 4 });
    for (; now.layoutChange !== undefined; now = await endPhase(call(), now)) views[now.layoutChange.phase] = now;
    views.after = now;
  });
  const KEYS = { A: ['gpkA', 'gskA'], B: ['gpkB', 'gskB'] } as const;
  async function entriesOf(key: string) {
    const item = (await readItem(call(), db.keys.marker('views', key))) ?? {};
    return [...KEYS.A, ...KEYS.B].filter((name) => item[name] !== undefined);
  }
  const ENTERED = {
    before: KEYS.A,
    FILL: [...KEYS.A, ...KEYS.B],
    SWITCH: [...KEYS.A, ...KEYS.B],
    DRAIN: KEYS.B,
    after: KEYS.B,
  } as const;
  const position = { lng: 16.9, lat: 52.4 };

  test.each(Object.keys(ENTERED) as (keyof typeof ENTERED)[])(
    'is entered by every writer as phase "%s" requires',
    async (phase) => {
      for (const found of Object.keys(ENTERED) as (keyof typeof ENTERED)[]) {
        const collection = views[phase]!;
        const key = `${phase}-${found}`;
        const { after: item } = await createMarker(call(), views[found]!, { key, position }, NOW);
        expect(await entriesOf(key)).toEqual(ENTERED[found]);
        const { after } = await updateMarker(call(), { collection, key }, { name: 'moved' }, { now: NOW });
        expect(await entriesOf(key)).toEqual(ENTERED[phase]);
        // One version more, and the map version of a change of the name.
        expect(after).toMatchObject({ version: 2, mv: 2 });
        await deleteMarker(call(), { collection, key }, { now: NOW });
        await createMarker(call(), views[found]!, { key, position }, NOW);
        await upsertMarkers(call(), collection, [{ key, position: { lng: 1, lat: 2 } }], NOW);
        expect(await entriesOf(key)).toEqual(ENTERED[phase]);
        await deleteMarker(call(), { collection, key }, { now: NOW });
        await createMarker(call(), views[found]!, { key, position }, NOW);
        expect(await relocateMarker(call(), collection, item!)).toBe(ENTERED[found].join() !== ENTERED[phase].join());
        expect(await entriesOf(key)).toEqual(ENTERED[phase]);
        expect(await relocateMarker(call(), collection, item!)).toBe(false);
      }
    },
  );

  test('that has moved since it was read is entered where it is; one that is gone stays so', async () => {
    const { after: old } = await createMarker(call(), views.before!, { key: 'late', position }, NOW);
    await updateMarker(
      call(),
      { collection: views.before!, key: 'late' },
      { position: { lng: 1, lat: 2 } },
      { now: NOW },
    );
    expect(await relocateMarker(call(), views.FILL!, old!)).toBe(true);
    const { after: made } = await createMarker(
      call(),
      views.after!,
      { key: 'later', position: { lng: 1, lat: 2 } },
      NOW,
    );
    const item = await readItem(call(), db.keys.marker('views', 'late'));
    expect(item).toMatchObject({ gskB: String(made?.['gskB']).replace('later', 'late'), version: 2, mv: 2 });
    await deleteMarker(call(), { collection: views.FILL!, key: 'late' }, { now: NOW });
    expect(await relocateMarker(call(), views.FILL!, old!)).toBe(false);
    expect(await readItem(call(), db.keys.marker('views', 'late'))).toBeUndefined();
  });

  test('with the same content is left alone by an import, whatever the phase', async () => {
    await createMarker(call(), views.before!, { key: 'same', position }, NOW);
    const input = [{ key: 'same', position }];
    const { written } = await upsertMarkers(call(), views.FILL!, input, NOW);
    expect(written).toMatchObject([{ outcome: 'unchanged' }]);
  });
});
