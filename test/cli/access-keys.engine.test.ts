import { beforeAll, expect, test } from 'vitest';

import { hashOfKey } from '../../src/access/api-key.js';
import { storedKey, storeKey } from '../../src/store/access/access-items.js';
import { newCall } from '../../src/store/database.js';
import { setRules } from '../access/guarded-server.js';
import { runCliHere } from '../support/run-cli.js';
import { engineSettings, testDatabase } from '../support/test-database.js';

const db = await testDatabase();
const cli = (...args: string[]) =>
  runCliHere(['access', 'key', ...args], { ...engineSettings(), CELLPORT_TABLE: db.tables.entities });
/** The JSON that a command prints, before what it says on the other stream. */
const jsonOf = async (...args: string[]) =>
  JSON.parse(/^\{.*?^\}/ms.exec((await cli(...args, '--json')).output)?.[0] ?? 'null') as {
    readonly key: string;
    readonly id: string;
  };
const find = (key: string) => storedKey(newCall(db), hashOfKey(key) ?? '');

beforeAll(() => setRules(db, { roles: { reader: [{ collections: ['parks'], may: ['read'] }] } }));

test('a key is found by its name, its ID and itself, and is replaced by its name again once the one before has expired', async () => {
  const first = await jsonOf('create', '--role', 'reader', '--name', 'City', '--expires', '30d');
  const second = await jsonOf('rotate', 'City', '--overlap', '1h');
  const [old, replaced] = [await find(first.key), await find(second.key)];
  expect(Date.parse(old?.expiresAt ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000);
  expect(Date.parse(replaced?.expiresAt ?? '') - Date.parse(replaced?.createdAt ?? '')).toBe(30 * 86_400_000);
  const both = await cli('rotate', 'City');
  expect(both).toMatchObject({
    code: 1,
    output: expect.stringMatching(`2 keys have the name City.*${first.id}`) as string,
  });
  if (old) await storeKey(newCall(db), { ...old, expiresAt: new Date().toISOString() });
  const third = await jsonOf('rotate', 'City');
  expect(await jsonOf('revoke', second.id)).toMatchObject({ id: second.id, name: 'City', roles: ['reader'] });
  expect((await jsonOf('revoke', 'City')).id).toBe(third.id);
  expect((await jsonOf('revoke', first.key)).id).toBe(first.id);
  expect(await cli('revoke', 'City')).toMatchObject({ code: 1, output: 'cellport: there is no API key "City"\n' });
  expect((await cli('list', '--json')).output).toBe('[]\n');
});
