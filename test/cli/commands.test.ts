import { describe, expect, it } from 'vitest';

import { keysOf } from '../../src/cli/entity-keys.js';
import { planOf } from '../../src/cli/viewport-plan.js';
import { runCli } from '../support/run-cli.js';

async function outcome(...args: string[]): Promise<{ code: number | null; output: string }> {
  const run = runCli(args);
  const code = await run.ended;
  return { code, output: run.output() };
}

describe('the command line', () => {
  it('prints help for itself and every command, with exit codes', async () => {
    const commands = [[], ['serve'], ['import'], ['export'], ['table'], ['keys'], ['plan']];
    const helps = await Promise.all(commands.map((command) => outcome(...command, '--help')));
    for (const { code, output } of helps) {
      expect(code).toBe(0);
      expect(output).toMatch(/Usage: cellport/);
      expect(output).toMatch(/Exit codes: 0/);
    }
  });

  it('exits with code 2 and an error message for an invalid command line, setting or input', async () => {
    const wrong: [string[], RegExp][] = [
      [[], /Usage/],
      [['fly'], /unknown command/],
      [['plan', '--zoom', '3'], /--bounds/],
      [['plan', '--bounds', '1,2,3', '--zoom', '3'], /west,south,east,north/],
      [['plan', '--bounds', '0,10,1,5', '--zoom', '3'], /south/],
      [['plan', '--bounds', '0,0,1,1', '--zoom', '99'], /--zoom.*-2 to 30/],
      [['import', 'nowhere.csv', '--collection', 'x'], /nowhere\.csv/],
      [['import', 'README.md', '--collection', 'x'], /--format/],
      [['table', 'delete'], /--yes/],
    ];
    const outcomes = await Promise.all(wrong.map(([args]) => outcome(...args)));
    for (const [at, { code, output }] of outcomes.entries()) {
      expect(output).toMatch(wrong[at]?.[1] ?? /never/);
      expect(code).toBe(2);
    }
    const setting = runCli(['serve'], { PORT: 'many' });
    expect(await setting.ended).toBe(2);
    expect(setting.output()).toMatch(/PORT must be a whole number.*"many"/);
  });
});

describe('keys', () => {
  it('are the ones in the tables, in both styles', () => {
    const options = { prefixLength: 2, writeShards: 1 };
    const marker = { kind: 'marker', collection: 'parks', key: 'p1', lng: 16.9, lat: 52.4 } as const;
    expect(keysOf(marker, options, 'readable')).toMatchObject({
      id: 'marker::parks::p1',
      document: 'marker::parks::p1#self',
      pk: 'marker::parks::p1',
      sk: 'self',
      gpkA: 'marker::parks::u3',
      gskA: 'k40e4hne::p1',
    });
    expect(
      keysOf({ kind: 'cell', collection: 'parks', geohash: 'gcp' }, { ...options, code: 'Sh' }, 'compact'),
    ).toMatchObject({
      pk: 'ShCe#',
      sk: 'gcp',
    });
    expect(() => keysOf(marker, options, 'compact')).toThrow(/code/);
  });
});

describe('plan', () => {
  it('lists few ranges with the bounding box of each, without a database', () => {
    const plan = planOf(
      { bounds: [-0.6, 51.2, 0.4, 51.8], zoom: 10, collection: 'cities', prefixLength: 2, writeShards: 1 },
      'readable',
    );
    expect(plan.precision).toBe(5);
    expect(plan.markers.length).toBeGreaterThan(0);
    expect(plan.markers.length).toBeLessThanOrEqual(8);
    for (const { pk, from, to } of plan.markers) {
      expect(pk).toMatch(/^marker::cities::..$/);
      expect(from < to).toBe(true);
    }
    expect(plan.cells?.length).toBeLessThanOrEqual(16);
  });
});
