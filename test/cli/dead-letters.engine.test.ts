import { expect, test } from 'vitest';

import { putRefusals } from '../../src/search/opensearch/dead-letters.js';
import { putDeadLetters } from '../../src/store/cell/dead-letters.js';
import { newCall } from '../../src/store/database.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const db = await testDatabase('readable', { stream: true });
const cli = (...args: string[]) =>
  runCliHere(['dead-letters', ...args], { CELLPORT_TABLE: db.tables.entities, ...engineSettings() });

test('cellport dead-letters counts and lists what OpenSearch rejected, page by page, apart from records of the stream', async () => {
  expect(await cli()).toEqual({ code: 0, output: '0 of 0 dead letters\n' });

  const refusals = Array.from({ length: 45 }, (_, n) => ({ key: db.keys.marker('parks', `m${n}`), reason: `no ${n}` }));
  await putRefusals(db, refusals);
  // The state of the consumer is in the same partition.
  const letter = {
    shard: 's',
    sequence: '1',
    reason: 'lng is not a number',
    item: '{"pk":"p","sk":"s"}',
    event: 'INSERT',
  };
  await putDeadLetters(newCall(db), 'cells', [letter]);

  const lines: string[] = [];
  const rests: string[] = [];
  let after: string[] = [];
  do {
    const { code, output } = await cli('--first', '20', ...after);
    expect(code).toBe(0);
    const printed = output.trimEnd().split('\n');
    const said = printed.pop() ?? '';
    lines.push(...printed);
    rests.push(said.replace(/--after .*/, '--after'));
    const [, cursor] = /--after (\S+)/.exec(said) ?? [];
    after = cursor === undefined ? [] : ['--after', cursor];
  } while (after.length > 0);
  expect(rests).toEqual([
    '20 of 45 dead letters; next page: --after',
    '20 of 45 dead letters; next page: --after',
    '5 of 45 dead letters',
  ]);
  expect(new Set(lines)).toEqual(new Set(refusals.map(({ key, reason }) => `${JSON.stringify(key)}  ${reason}`)));

  expect((await cli('--stream')).output).toBe('{"pk":"p","sk":"s"}  lng is not a number\n1 of 1 dead letters\n');
  const { output } = await cli('--json', '--first', '1');
  expect(JSON.parse(output)).toMatchObject({
    deadLetters: [{ event: 'put', reason: expect.stringMatching(/^no \d+$/) as string }],
    total: 45,
    next: expect.any(String) as string,
  });
});
