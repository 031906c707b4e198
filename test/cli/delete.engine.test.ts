import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';

import { resumed } from '../../src/cli/session.js';
import { CellportError } from '../../src/errors.js';
import { silentLog } from '../../src/log.js';
import { startConsumer } from '../../src/server/consumer.js';
import { getCollections } from '../../src/store/collection/collections.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { throttled, unavailable } from '../../src/store/request/failures.js';
import { ensureTables } from '../../src/store/table/tables.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { runCli, runCliHere } from '../support/run-cli.js';
import { engine, engineSettings, newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const streams = createStreamsClient(engine());
const settings = { ...engineSettings(), CELLPORT_TABLE: db.tables.entities, CELLPORT_LOG: 'silent' };
const cli = (...args: string[]) => runCliHere(args, settings);
const NOW = new Date().toISOString();

beforeAll(async () => {
  for (const key of ['parks', 'shops']) {
    const collection = await testCollection(db, { key, name: key }, NOW);
    const markers = ['a', 'b', 'c'].map((name, lng) => ({
      key: name,
      position: { lng, lat: 1 },
      properties: { size: 1 },
    }));
    await createMarkers(newCall(db), collection, markers, NOW);
  }
  const cells = startConsumer({ database: db, streams }, silentLog);
  await cells.caughtUp(new AbortController().signal);
  await cells.stop();
});
afterAll(() => streams.destroy());

test('before anybody has counted markers, a deletion does not call a collection empty', async () => {
  const other = newDatabase();
  onTestFinished(() => other.client.destroy());
  await ensureTables(other);
  const collection = await testCollection(other, { key: 'full', name: 'Full' }, NOW);
  await createMarkers(newCall(other), collection, [{ key: 'a', position: { lng: 1, lat: 1 } }], NOW);
  const env = { ...settings, CELLPORT_TABLE: other.tables.entities };
  expect((await runCliHere(['delete', 'full'], env)).output).toContain(
    'collection full with an unknown number of markers',
  );
  const { output } = await runCliHere(['delete', 'full', '--yes', '--json'], env);
  expect(output).toContain('{"collection":"full","markers":null,"emptied":false}');
});

test('repartition warns of properties that no marker has, and goes on where it cannot ask', async () => {
  const run = runCli(['repartition', 'shops', '--map-property', 'size,pirce'], settings);
  await run.said(/warning: none of 3 markers has pirce\n/);
  await run.said(/adding the new layout/);
  const other = runCli(['repartition', '--map-properties', 'size', 'parks'], settings);
  await other.said(/adding the new layout/);
  for (const { child } of [run, other]) child.kill('SIGINT');
  await Promise.all([run.ended, other.ended]);
  expect(other.output()).not.toMatch(/none of/);
});

describe('a long command', () => {
  const { signal } = new AbortController();

  test('resumes after an outage by itself, and says so', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const failures = [throttled(), unavailable('it does not respond')];
    const result = await resumed(signal, async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      return 'done';
    });
    expect([result, said.mock.calls.flat()]).toEqual([
      'done',
      [expect.stringMatching(/throttling.*; trying again/), expect.stringMatching(/unavailable.*; trying again/)],
    ]);
    said.mockRestore();
  });

  test('ends at once with other failures, which do not pass', async () => {
    const missing = Object.assign(new Error('no table'), { name: 'ResourceNotFoundException' });
    for (const failure of [unavailable('a table does not exist', missing), new CellportError('UNAVAILABLE', 'wrong')]) {
      await expect(resumed(signal, () => Promise.reject(failure))).rejects.toBe(failure);
    }
  });

  test('says after a long outage that it resumes when run again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    let failure: Error | undefined;
    resumed(signal, () => Promise.reject(throttled())).catch((error: Error) => (failure = error));
    while (failure === undefined) await vi.advanceTimersByTimeAsync(30_000);
    expect(String(failure)).toMatch(/throttling.*; run the same command again to resume/);
    said.mockRestore();
    vi.useRealTimers();
  });
});

describe('cellport delete', () => {
  test('says how many markers it would delete, and deletes nothing without --yes where it cannot ask', async () => {
    const { code, output } = await cli('delete', 'parks');
    expect([code, output]).toEqual([2, expect.stringMatching(/pass --yes to delete collection parks with 3 markers/)]);
    expect(await getCollections(newCall(db), ['parks'])).toMatchObject([{ key: 'parks' }]);
  });

  test.skipIf(!existsSync('/usr/bin/script')).each([
    ['the end of the input', '\u0004'],
    ['Ctrl+C', '\u0003'],
    ['an empty line', '\n'],
  ])('takes %s for a no', async (_, answer) => {
    const command = `${process.execPath} ${join(inject('compiled'), 'src/cli/main.js')} delete parks`;
    const env = { PATH: process.env['PATH'], ...settings };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env });
    let output = '';
    let isAnswered = false;
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
      if (isAnswered || !output.includes('[y/N]')) return;
      isAnswered = true;
      child.stdin.write(answer);
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
    expect(output).toContain('nothing was changed');
    expect(await getCollections(newCall(db), ['parks'])).toMatchObject([{ key: 'parks' }]);
  });

  test('deletes a collection, of which others show nothing any more', async () => {
    const { code, output } = await cli('delete', 'parks', '--yes');
    expect([code, output]).toEqual([
      0,
      // The time is there if the counts are more than ten seconds old.
      expect.stringMatching(/^collection parks with 3 markers( \(at [\dT:.-]+Z\))? deleted\n.*its key is taken/),
    ]);
    expect(await getCollections(newCall(db), ['parks'], { consistent: true })).toEqual([null]);
    const again = await cli('delete', 'parks', '--yes');
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('there is no collection parks')]);
    const json = await cli('delete', 'shops', '--yes', '--json');
    expect(JSON.parse(json.output)).toEqual({ collection: 'shops', markers: 3, emptied: false });
  });
});
