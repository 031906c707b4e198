import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { formatOf } from '../../src/ingest/read/file-format.js';
import { RejectsFile } from '../../src/ingest/read/rejects.js';
import type { Row } from '../../src/ingest/read/row.js';
import { importReadings } from '../../src/ingest/readings/import-readings.js';
import { readingReader, type ReadingRow } from '../../src/ingest/readings/reading-row.js';
import type { ReadOptions } from '../../src/ingest/rows/fields.js';
import type { Collection } from '../../src/model/collection.js';
import { newCall } from '../../src/store/database.js';
import { createMarkers } from '../../src/store/marker/markers.js';
import { readMarkerWithReadings, recordReadings } from '../../src/store/reading/readings.js';
import { recordCalls } from '../support/record-calls.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, newDatabase, testCollection, testDatabase } from '../support/test-database.js';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const DAY = 86_400_000;
const database = await testDatabase('readable', { stream: true });
const folder = temporaryFolder();

let made = 0;
async function newCollection(markers: readonly string[], readingsTtlDays?: number): Promise<Collection> {
  made += 1;
  const input = { key: `c${made}`, name: 'Sensors', readingsTtlDays };
  const collection = await testCollection(database, input, NOW.toISOString());
  const inputs = markers.map((key) => ({ key, position: { lng: 1, lat: 2 } }));
  await createMarkers(newCall(database), collection, inputs, NOW.toISOString());
  return collection;
}

const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();

async function file(name: string, lines: readonly unknown[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return path;
}

interface Options extends ReadOptions {
  readonly signal?: AbortSignal;
  readonly db?: typeof database;
  readonly onProgress?: () => void;
}

async function run(collection: Collection, path: string, options: Options = {}) {
  return importReadings({
    collection,
    rows: readingReader(path, formatOf(path), options).rows(),
    size: (await stat(path)).size,
    rejects: new RejectsFile(`${path}.rejects.ndjson`),
    now: () => NOW,
    onProgress: options.onProgress ?? (() => undefined),
    call: newCall(options.db ?? database, options.signal),
  });
}

const counts = (recorded: number, expired = 0, rejected = 0) => ({ recorded, expired, rejected });
const rejectsOf = async (path: string) =>
  (await readFile(`${path}.rejects.ndjson`, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { line: number; reason: string; row: unknown });

async function readingsOf(collection: Collection, key: string) {
  const options = { now: NOW.getTime(), mostPassed: 20_000 };
  return (await readMarkerWithReadings(newCall(database), { collection, key }, { last: 5_000 }, options)).readings;
}

describe('importing readings', () => {
  test('from CSV and NDJSON gives the same, and so does importing them again', async () => {
    const values = [{ celsius: 21.5, state: 'on' }, { celsius: -3 }, { celsius: 0.1, state: '007' }];
    const csv = await file('same.csv', [
      'at,Marker,celsius,state',
      `${at(0)},a,21.50,on`,
      `2026-11-21T11:00:00.001+01:00,a,-3,`,
      `${at(2)},"a::b",0.1,007`,
    ]);
    const ndjson = await file('same.ndjson', [
      { marker: 'a', at: at(0), values: values[0] },
      { marker: 'a', at: at(1), ...values[1], state: null },
      { marker: 'a::b', time: at(2), state: '007', values: { celsius: 0.1 } },
    ]);
    for (const path of [csv, ndjson]) {
      const collection = await newCollection(['a', 'a::b']);
      for (const _ of ['first', 'again']) {
        expect(await run(collection, path)).toEqual(counts(3));
        expect(await readingsOf(collection, 'a')).toEqual([
          { at: at(1), values: values[1] },
          { at: at(0), values: values[0] },
        ]);
        expect(await readingsOf(collection, 'a::b')).toEqual([{ at: at(2), values: values[2] }]);
      }
      expect(existsSync(`${path}.rejects.ndjson`)).toBe(false);
    }
  });

  test('of thousands takes batches of 25 and one read per marker, and keeps the last reading of each instant', async () => {
    const keys = ['x', 'y', 'z'];
    const collection = await newCollection(keys);
    const rows = Array.from({ length: 2_100 }, (_, n) => `${keys[n % 3]};${at(n)};${n}`);
    const path = await file('many.csv', ['marker;at;n', ...rows, `x;${at(0)};-1`, `x;${at(3)};-1`]);
    const db = newDatabase('readable', { tables: database.tables });
    const calls = recordCalls(db);
    expect(await run(collection, path, { db })).toEqual(counts(2_102));
    expect(calls.count('BatchGetItem')).toBe(1);
    // Requests that time out on a busy machine are sent again.
    expect(calls.count('BatchWriteItem')).toBeLessThan(2 * (2_100 / 25));
    expect(calls.count()).toBe(1 + calls.count('BatchWriteItem'));
    const found = await readingsOf(collection, 'x');
    expect(found).toHaveLength(700);
    expect(found.slice(-3)).toEqual([
      { at: at(6), values: { n: 6 } },
      { at: at(3), values: { n: -1 } },
      { at: at(0), values: { n: -1 } },
    ]);
  });

  test('skips and counts expired readings', async () => {
    const collection = await newCollection(['a'], 10);
    const path = await file('old.ndjson', [
      { marker: 'a', at: at(-10 * DAY), n: 1 },
      { marker: 'a', at: at(-10 * DAY + 1), n: 2 },
      { marker: 'a', at: at(-100 * DAY), n: 3 },
    ]);
    expect(await run(collection, path)).toEqual(counts(1, 2));
    expect(await readingsOf(collection, 'a')).toEqual([{ at: at(-10 * DAY + 1), values: { n: 2 } }]);
  });

  test('writes invalid rows to the rejects file with line and reason, and imports the others', async () => {
    const collection = await newCollection(['a']);
    const good = { marker: 'a', at: at(0), n: 1 };
    const path = await file('bad.ndjson', [
      good,
      { ...good, marker: 'nobody' },
      { ...good, at: 'yesterday' },
      { marker: 'a', n: 1 },
      { at: at(0), n: 1 },
      { ...good, on: true },
      { marker: 'a', at: at(0) },
      'no JSON',
      '[1]',
      { ...good, n: { deep: 1 } },
      { marker: 'a', at: at(0), n: 1, values: { n: 2 } },
      { marker: 'x'.repeat(3_000), at: at(0), n: 1 },
      '{"marker": "a", "at": "2026-11-20T10:00:00Z", "n": 9007199254740993}',
      { marker: 'a', at: at(1), n: 2 },
    ]);
    expect(await run(collection, path)).toEqual(counts(3, 0, 11));
    const rejects = await rejectsOf(path);
    expect(rejects.map(({ line, reason }) => [line, reason])).toEqual([
      [2, expect.stringMatching(/no marker "nobody"/)],
      [3, expect.stringMatching(/^at must be an RFC 3339 instant.*"yesterday"/)],
      [4, expect.stringMatching(/no time of measurement in field `at`/)],
      [5, expect.stringMatching(/no key in marker/)],
      [6, expect.stringMatching(/^values\.on must be a number or text/)],
      [7, expect.stringMatching(/no values/)],
      [8, expect.stringMatching(/invalid JSON/)],
      [9, expect.stringMatching(/not a JSON object/)],
      [10, expect.stringMatching(/^values\.n must be/)],
      [11, expect.stringMatching(/duplicate field n, also in values/)],
      [12, expect.stringMatching(/at most|short enough/)],
    ]);
    expect(rejects[1]?.row).toEqual({ ...good, at: 'yesterday' });
    expect((await readingsOf(collection, 'a')).map(({ values }) => values)).toEqual([
      { n: 2 },
      { n: 1 },
      { n: '9007199254740993' },
    ]);
  });

  test('from CSV keeps numbers as numbers, except those that would lose digits, which stay text', async () => {
    const collection = await newCollection(['a']);
    const cells = [
      '9007199254740991',
      '9007199254740993',
      '0.1234567890123',
      '1.10',
      '007',
      '1e3',
      '-0.5',
      '12,5',
      'NaN',
    ];
    const path = await file('numbers.csv', [
      ['sensor', 'at', ...cells.keys()].join('|'),
      ['a', at(0), ...cells].join('|'),
      ['a', at(1), ...cells].slice(1).join('|'),
    ]);
    expect(await run(collection, path, { keyColumn: 'sensor' })).toEqual(counts(1, 0, 1));
    const [found] = await readingsOf(collection, 'a');
    expect(Object.values(found?.values ?? {})).toEqual([
      9007199254740991,
      '9007199254740993',
      0.1234567890123,
      1.1,
      '007',
      1000,
      -0.5,
      '12,5',
      'NaN',
    ]);
  });

  test('from CSV have one type a column, in the notation of the table', async () => {
    const collection = await newCollection(['a']);
    const lines = ['marker;at;t;code;on;rare', `a;${at(0)};21,5;01;true;5`, `a;${at(1)};1.234,5;10;;ERR`];
    const path = await file('typed.csv', lines);
    const values = async (options: Options = {}) => {
      expect(await run(collection, path, options)).toEqual(counts(2));
      return (await readingsOf(collection, 'a')).map((reading) => reading.values);
    };
    expect(await values()).toEqual([
      { t: 1234.5, code: '10', rare: 'ERR' },
      { t: 21.5, code: '01', on: 'true', rare: '5' },
    ]);
    expect(await values({ numberColumn: ['rare'], textColumn: ['t'] })).toEqual([
      { t: '1.234,5', code: '10', rare: 'ERR' },
      { t: '21,5', code: '01', on: 'true', rare: 5 },
    ]);
    await expect(run(collection, path, { numberColumn: ['zap'] })).rejects.toThrow(/no column zap.*--number-column/);
  });

  test('reads a list in JSON, and rejects a table without a marker or a time', async () => {
    const collection = await newCollection(['a']);
    const list = [
      { marker: 'a', at: at(0), n: 1 },
      { type: 'Feature', marker: 'a' },
    ];
    expect(await run(collection, await file('list.json', [JSON.stringify(list)]))).toEqual(counts(1, 0, 1));
    const refused = { code: 'BAD_USER_INPUT' };
    await expect(run(collection, await file('no-at.csv', ['marker,n', 'a,1']))).rejects.toMatchObject(refused);
    await expect(run(collection, await file('no-key.csv', ['at,n', 'a,1']))).rejects.toMatchObject(refused);
  });

  test('stops with the reason of its signal, and gives the same result when run again', async () => {
    const collection = await newCollection(['a']);
    const path = await file(
      'stopped.ndjson',
      Array.from({ length: 2_100 }, (_, n) => ({ marker: 'a', at: at(n), n })),
    );
    const controller = new AbortController();
    const reason = new Error('stopped');
    const stopped = run(collection, path, { signal: controller.signal, onProgress: () => controller.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
    expect((await readingsOf(collection, 'a')).length).toBe(2_000);
    expect(await run(collection, path)).toEqual(counts(2_100));
    expect(await readingsOf(collection, 'a')).toHaveLength(2_100);
  });

  test("reads at most one window ahead of the writes, regardless of the file's length", async () => {
    const collection = await newCollection(['a']);
    let read = 0;
    async function* rows(): AsyncGenerator<readonly Row<ReadingRow>[]> {
      for (; read < 4_200; read += 100) {
        yield Array.from({ length: 100 }, (_, index) => ({
          line: read + index,
          start: 0,
          length: 100,
          checksum: 0,
          text: '',
          isJson: false,
          content: { key: 'a', at: at(read + index), values: { n: index } },
        }));
      }
    }
    const ahead: number[] = [];
    const done = await importReadings({
      collection,
      rows: rows(),
      size: 1,
      rejects: new RejectsFile(join(folder, 'none')),
      now: () => NOW,
      onProgress: ({ counts: { recorded } }) => ahead.push(read - recorded),
      call: newCall(database),
    });
    expect(done).toEqual(counts(4_200));
    expect(ahead).toHaveLength(3);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(100);
  });

  test('overwrites readings of the same instant, and nothing else', async () => {
    const collection = await newCollection(['a']);
    const inputs = [
      { at: at(0), values: { n: 0 } },
      { at: at(1), values: { n: 1 } },
    ];
    await recordReadings(newCall(database), { collection, key: 'a' }, inputs, NOW);
    await run(collection, await file('over.ndjson', [{ marker: 'a', at: at(1), m: 5 }]));
    expect(await readingsOf(collection, 'a')).toEqual([
      { at: at(1), values: { m: 5 } },
      { at: at(0), values: { n: 0 } },
    ]);
  });
});

test('the command reports the rows, and rejects options for markers', async () => {
  const collection = await newCollection(['a']);
  const env = {
    ...engineSettings(),
    CELLPORT_TABLE: database.tables.entities,
  };
  const path = await file('command.csv', ['marker,at,n', `a,${at(0)},1`, `b,${at(0)},1`]);
  const command = (...args: string[]) => runCliHere(['import', '--readings', path, ...args], env);
  expect(await command('--collection', collection.key)).toEqual({
    code: 0,
    output: expect.stringMatching(
      /2 rows in .*: 1 recorded, 0 expired, 1 rejected\n+rejected rows.*command\.csv\.rejects\.ndjson/,
    ) as unknown,
  });
  expect(await readingsOf(collection, 'a')).toEqual([{ at: at(0), values: { n: 1 } }]);
  const refused = (code: number, message: RegExp) => ({ code, output: expect.stringMatching(message) as unknown });
  expect(await command('--collection', 'nowhere')).toEqual(refused(1, /no collection nowhere/));
  expect(await command('--collection', collection.key, '--name', 'x')).toEqual(refused(2, /--name|--readings/));
});
