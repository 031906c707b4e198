import { describe, expect, test } from 'vitest';

import { silentLog } from '../../src/log.js';
import { OwnSearch } from '../../src/server/search.js';
import { newCall } from '../../src/store/database.js';
import { createMarker } from '../../src/store/marker/markers.js';
import { deleteMarker } from '../../src/store/removal/markers.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';
import { until } from '../live/support.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engine, engineSettings, testCollection, testDatabase } from '../support/test-database.js';

const NOW = '2026-11-21T10:00:00.000Z';
const CITIES = {
  'São Paulo': [-46.6, -23.5],
  Poznań: [16.9, 52.4],
  'Port Louis': [57.5, -20.2],
  Potsdam: [13.1, 52.4],
};
const db = await testDatabase('readable', { stream: true });

const folder = temporaryFolder();
const cli = async (...args: string[]) =>
  runCliHere(['search', ...args], {
    CELLPORT_DATA_DIR: folder,
    CELLPORT_TABLE: db.tables.entities,
    ...engineSettings(),
  });

describe('cellport search', () => {
  test('says what to do if no server has built an index', async () => {
    const { code, output } = await cli('poznan');
    expect(output).toMatch(/no complete search index in .*; run `cellport serve` to build one/);
    expect(code).toBe(1);
  });

  test('finds what a server has indexed by text, box and distance, page by page, in its current state', async () => {
    const collection = await testCollection(db, { key: 'cities', name: 'Cities' }, NOW);
    for (const [name, [lng = 0, lat = 0]] of Object.entries(CITIES)) {
      const input = { key: name, name, category: 'city', position: { lng, lat }, properties: {} };
      await createMarker(newCall(db), collection, input, NOW);
    }
    const streams = createStreamsClient(engine());
    const config = { searchBytes: 2 ** 26, dataDir: folder, tables: db.tables };
    const search = new OwnSearch(config, { database: db, streams }, silentLog);
    search?.start();
    await until(() => search?.status.state === 'following');

    const found = await cli('sao', 'pau');
    expect(found).toMatchObject({ code: 0 });
    expect(found.output).toBe('São Paulo  city  at -46.6,-23.5  marker::cities::S\u00e3o Paulo\n1 of 1 results\n');
    const names = async (...args: string[]) => {
      const { output } = await cli(...args, '--json');
      const { results } = JSON.parse(output) as { results: { name: string }[] };
      return results.map(({ name }) => name);
    };
    expect(await names('--bounds', '10,50,20,55')).toEqual(expect.arrayContaining(['Poznań', 'Potsdam']));
    expect(await names('po', '--near', '13,52', '-c', 'cities')).toEqual(['Potsdam', 'Poznań', 'Port Louis']);
    const first = await cli('po', '--near', '13,52', '--first', '2');
    const [, cursor = ''] = /2 of 3 results; next page: --after (\S+)/.exec(first.output) ?? [];
    expect(await names('po', '--near', '13,52', '--first', '2', '--after', cursor)).toEqual(['Port Louis']);

    // The index of a stopped server still finds items of the table.
    await search?.stop();
    streams.destroy();
    await deleteMarker(newCall(db), { collection, key: 'Potsdam' }, { now: NOW });
    expect(await names('pots')).toEqual([]);
    expect(await names('pozn')).toEqual(['Poznań']);
  });

  test.each([
    [['x', '--near', '0,95'], /--near\.lat must be a latitude/],
    [['x', '--collection', 'parks'], /there is no collection parks; existing collections: cities/],
    [[], /pass words to search for, or --bounds\n+Usage: cellport search/],
    [['...'], /text must be at least one letter or digit/],
    [['x', '--bounds', '0,5,1,1'], /bounds\.south must be at most north/],
  ])('%s is a clear error', async (args, message) => {
    const { code, output } = await cli(...args);
    expect(output).toMatch(message);
    expect(code).not.toBe(0);
  });
});
