import { describe, expect, it } from 'vitest';

import { keysOf } from '../../src/cli/entity-keys.js';
import { planOf } from '../../src/cli/viewport-plan.js';
import { runCli, runCliHere } from '../support/run-cli.js';

const outcome = (...args: string[]) => runCliHere(args);

describe('the command line', () => {
  it('prints help for itself and every command, with exit codes', async () => {
    const commands = [
      [],
      ['serve'],
      ['import'],
      ['export'],
      ['search'],
      ['recount'],
      ['reindex'],
      ['dead-letters'],
      ['repartition'],
      ['delete'],
      ['sweep'],
      ['table'],
      ['keys'],
      ['plan'],
      ['advise'],
    ];
    for (const command of commands) {
      const { code, output } = await outcome(...command, '--help');
      expect(code).toBe(0);
      expect(output).toMatch(/Usage: cellport/);
      expect(output).toMatch(/Exit codes: 0/);
      if (command.length > 0) expect(output).toMatch(new RegExp(`Examples:\n.* cellport ${command.join(' ')} ?`));
    }
    for (const command of [
      'table create',
      'table describe',
      'table delete',
      'keys marker',
      'keys cell',
      'documents remove',
    ]) {
      const { output } = await outcome(...command.split(' '), '--help');
      expect(output).toMatch(new RegExp(`Examples:\n.*cellport ${command}`));
    }
  });

  it('ends quietly when the reader of its output leaves', async () => {
    const run = runCli(['import', '--help']);
    run.child.stdout?.destroy();
    expect(await run.ended).toBe(0);
    expect(run.output()).toBe('');
  });

  it('exits with code 2 and an error message for an invalid command line, setting or input', async () => {
    const wrong: [string[], RegExp][] = [
      [[], /Usage/],
      [['fly'], /unknown command/],
      [['plan', '--zoom', '3'], /--bounds/],
      [['plan', '--bounds', '1,2,3', '--zoom', '3'], /west,south,east,north/],
      [['plan', '--bounds', '0,10,1,5', '--zoom', '3'], /south/],
      [['plan', '--bounds', '0,0,1,1', '--zoom', '99'], /--zoom.*-2 to 30/],
      [['import', 'nowhere.csv', '--collection', 'x'], /no such file: nowhere\.csv/],
      [['import', 'nowhere.csv', '--colection', 'x'], /unknown option.*\n.*Did you mean --collection/],
      [
        ['import', 'nowhere.csv'],
        /required option '-c, --collection <key>' not specified\s+Usage: cellport import --collection <key> \[options\] <file>/,
      ],
      [['export', 'cities'], /too many arguments.*\s+Usage: cellport export --collection <key> \[options\]/],
      [['import', '--collection', 'x'], /missing required argument 'file'\s+Usage: cellport import/],
      [['keys', 'marker', 'x'], /missing required argument 'key'\s+Usage: cellport keys marker/],
      [['import', 'README.md', '--collection', 'x'], /--format/],
      [['search', 'x', '--near', '1'], /Expected two numbers: lng,lat/],
      [['repartition', '--undo'], /missing required argument 'key'\s+Usage: cellport repartition/],
      [['repartition', 'x', '--prefix-length', '7'], /--prefix-length.*0 to 6/],
      [['table', 'delete'], /--yes/],
    ];
    for (const [args, message] of wrong) {
      const { code, output } = await outcome(...args);
      expect(output).toMatch(message);
      expect(code).toBe(2);
    }
    const { code, output } = await runCliHere(['serve'], { PORT: 'many' });
    expect(output).toMatch(/PORT must be a whole number.*"many"/);
    expect(code).toBe(2);
  });

  it('passes its exit code to the process that started it', async () => {
    const [help, fly] = [runCli(['--help']), runCli(['fly'])];
    expect([await help.ended, await fly.ended]).toEqual([0, 2]);
    expect(fly.output()).toMatch(/unknown command/);
  });
});

describe('keys', () => {
  it('are those stored in the tables, in both styles', () => {
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
  it('lists a few ranges, each with its bounding box, without a database', () => {
    const plan = planOf(
      {
        bounds: { west: -0.6, south: 51.2, east: 0.4, north: 51.8 },
        zoom: 10,
        collection: 'cities',
        prefixLength: 2,
        writeShards: 1,
      },
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

  it('warns of a latitude beyond a pole, and plans up to the pole', async () => {
    const { code, output } = await outcome('plan', '--bounds', '0,80,10,95', '--zoom', '3');
    expect(output).toMatch(/^warning: latitudes are from -90 to 90.*0,80,10,95.*\nbounds 0,80,10,90, zoom 3/);
    expect(code).toBe(0);
  });
});
