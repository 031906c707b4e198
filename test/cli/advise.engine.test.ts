import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Advice } from '../../src/capacity/advice.js';
import { fromCollection } from '../../src/cli/advise/from-collection.js';
import { encode } from '../../src/geo/geohash.js';
import { openCities } from '../../src/ingest/markers/cities.js';
import { isInvalid } from '../../src/ingest/read/row.js';
import { newCall } from '../../src/store/database.js';
import { makeCollection, type Made } from '../map/fixture.js';
import { recordCalls } from '../support/record-calls.js';
import { inTurn, runsAll } from '../support/rounds.js';
import { runCliHere } from '../support/run-cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const MARKERS = 600;
const database = await testDatabase('readable');
const calls = recordCalls(database);
const folder = temporaryFolder();
const cities: Made[] = [];

beforeAll(async () => {
  for await (const rows of openCities(MARKERS).rows.scan()) {
    for (const { content } of rows) {
      if (isInvalid(content)) continue;
      const { lng, lat } = content.position;
      cities.push({ key: content.key, position: { lng: Number(lng), lat: Number(lat) }, category: '', properties: {} });
    }
  }
});

const advise = (...args: string[]) =>
  runCliHere(['advise', ...args], {
    CELLPORT_DATA_DIR: join(folder, 'data'),
    CELLPORT_TABLE: database.tables.entities,
    ...engineSettings(),
  });

const adviceOf = async (...args: string[]): Promise<Advice & { source: string; current: unknown }> => {
  const { code, output } = await advise('--json', ...args);
  expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  return JSON.parse(output) as Advice & { source: string; current: unknown };
};

/** The share of the cities with the most common geohash of a length, by a linear scan. */
function hottestShare(length: number): number {
  const counts = new Map<string, number>();
  for (const { position } of cities) {
    const prefix = encode(position, length);
    counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return Math.max(...counts.values()) / cities.length;
}

describe('cellport advise', () => {
  const turn = inTurn(2);
  test.runIf(runsAll)('answers the worked examples from figures alone', async () => {
    const load = ['--rcu', '1000', '--wcu', '500', '--gb', '50', '--peak', '2'];
    const { partitions, monthly } = await adviceOf(...load, '--price', 'storage=1');
    expect(partitions).toEqual({ byThroughput: 1, byStorage: 5, total: 5, rcuEach: 200, wcuEach: 100 });
    expect(monthly.onDemand).toMatchObject({ reads: (500 * 2.628) / 8, storage: 50 });
  });

  test.runIf(turn())('derives the distribution from a file, and draws it in a self-contained report', async () => {
    const path = join(folder, 'cities.csv');
    const rows = cities.map(({ key, position: { lng, lat } }) => `${key},${lng},${lat}`);
    await writeFile(path, ['key,lng,lat', ...rows, 'beyond,0,500'].join('\n'));
    const html = join(folder, 'report.html');
    const advice = await adviceOf(path, '--writes', '5000', '--html', html);
    expect(advice.source).toMatch(/^600 markers in .*excluding 1 invalid rows \(line 602.*position\.lat must be/);
    expect(advice.markers).toBe(MARKERS);
    advice.candidates.forEach(({ hottest }, length) => expect(hottest.share).toBeCloseTo(hottestShare(length), 4));
    const { prefixLength, writeShards, fits } = advice.recommendation;
    expect(fits).toBe(true);
    expect((10_000 * hottestShare(prefixLength)) / writeShards).toBeLessThanOrEqual(1_000);
    const report = await readFile(html, 'utf8');
    expect(report).toMatch(/aria-label="Where the markers are".*<path/);
    expect(report.match(/<svg /g)).toHaveLength(4);
    const most = Math.ceil(2 * advice.demand.wcu).toLocaleString('en-US');
    // Nothing is said of reads.
    expect(report).toContain(`allows: set maxWriteRequestUnits ${most}, twice the peak`);
    expect(report).not.toMatch(/<script|<link|<img|@import|url\(|src=|href=|NaN|Infinity|undefined/);
  });

  test.runIf(turn())(
    'derives the distribution of a live collection from its cells and a sample, with bounded reads and no scan',
    async () => {
      await makeCollection(database, { key: 'towns', prefixLength: 2 }, cities);
      const blocks = new Set(
        cities.flatMap(({ position }) => [0, 1, 2, 3, 4].map((length) => encode(position, length))),
      );
      calls.reset();
      const { distribution, sample } = await fromCollection(newCall(database), 'towns');
      expect(distribution.markers).toBe(MARKERS);
      for (let length = 0; length <= 5; length += 1)
        expect(distribution.hottest(length).share).toBeCloseTo(hottestShare(length), 10);
      expect(sample.length).toBeGreaterThan(0);
      expect(sample.length).toBeLessThanOrEqual(256);
      expect(calls.count('Scan')).toBe(0);
      expect(calls.count('Query')).toBeLessThanOrEqual(8);
      expect(calls.count()).toBeLessThanOrEqual(8 + Math.ceil(blocks.size / 100) + 15);

      const advice = await adviceOf('--collection', 'towns', '--items', '6000000');
      expect(advice.current).toEqual({ prefixLength: 2, writeShards: 1 });
      expect(advice.markers).toBeCloseTo(6_000_000);
      expect(advice.source).toMatch(/^collection towns: 600 markers/);
    },
  );

  test('reports errors with the option, the value and what is allowed', async () => {
    const empty = join(folder, 'empty.csv');
    await writeFile(empty, 'key,lng,lat\nx,0,500\n');
    const one = join(folder, 'one.csv');
    await writeFile(one, 'key,lng,lat\nx,5,0\n');
    const wrong: [args: string[], code: number, message: RegExp][] = [
      [[], 2, /needs a file, --collection, or at least one of --items/],
      [['--rcu', 'many'], 2, /--rcu.*'many' is invalid.*Expected a number/],
      [['--gb', '-1'], 2, /--gb.*'-1' is invalid.*from 0 to/],
      [['--items', '0'], 2, /--items.*'0' is invalid.*from 1 to/],
      [['--peak', '0.5', '--gb', '1'], 2, /--peak.*'0.5' is invalid.*from 1 to/],
      [['--price', 'water=3'], 2, /--price.*'water=3'.*onDemandRead, onDemandWrite/],
      [['--veiws-a-day', '1'], 2, /Did you mean --views-a-day/],
      [['nowhere.csv'], 2, /no such file: nowhere\.csv/],
      [['nowhere.csv', '--collection', 'x'], 2, /either a file or --collection/],
      [[empty], 2, /file must be a file with at least one marker \(line 2: position\.lat must be/],
      [[one, '--html', folder], 2, /--html must be a file that can be written/],
      [['--collection', 'nowhere'], 1, /there is no collection nowhere/],
    ];
    for (const [args, code, message] of wrong) {
      expect(await advise(...args)).toMatchObject({ code, output: expect.stringMatching(message) as unknown });
    }
  });
});
