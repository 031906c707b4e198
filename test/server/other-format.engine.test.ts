import { expect, test, vi } from 'vitest';

import { loadStreamState, putStreamState } from '../../src/store/cell/stream-state.js';
import { newCall } from '../../src/store/database.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, testDatabase } from '../support/test-database.js';
import { serve } from './sources/server.js';

const db = await testDatabase('readable', { stream: true });
const PATIENT = { timeout: 60_000, interval: 100 };

test('a server that finds counts of another release says so, and goes on once they are recounted', async () => {
  const first = await serve(db);
  await first.ask('mutation { createCollection(input: { key: "shops", name: "Shops" }) { key } }');
  const create = (key: string) =>
    `mutation { createMarker(input: { collection: "shops", key: "${key}", position: { lng: 1, lat: 2 } }) { key } }`;
  await first.ask(create('a'));
  const counted = async ({ ask }: typeof first, count: number) => {
    const { data } = await ask('{ collection(key: "shops") { count countsExact } }');
    expect(data.collection).toEqual({ count, countsExact: true });
  };
  await vi.waitFor(() => counted(first, 1), PATIENT);
  await first.close();

  const state = await loadStreamState(newCall(db), 'cells');
  if (state === undefined) throw new Error('there is no state');
  const older = { ...state, layout: 'older', version: state.version + 1, token: 'older' };
  expect(await putStreamState(newCall(db), 'cells', older)).toBe(true);

  const second = await serve(db);
  const stream = async (): Promise<unknown> =>
    ((await (await fetch(`${second.url}/readyz`)).json()) as { readonly stream: unknown }).stream;
  const gap = { reason: expect.stringContaining('has format older') as unknown };
  await vi.waitFor(async () => expect(await stream()).toMatchObject({ countsExact: false, gap }), PATIENT);
  await second.ask(create('b'));
  expect((await loadStreamState(newCall(db), 'cells'))?.layout).toBe('older');

  // docs/upgrading.md names this step.
  const env = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
  expect(await runCliHere(['recount'], env)).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await stream()).toMatchObject({ owner: true, gap: null }), PATIENT);
  await second.ask(create('c'));
  await vi.waitFor(() => counted(second, 3), PATIENT);
});
