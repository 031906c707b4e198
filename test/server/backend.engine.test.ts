import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';

import { readConfig } from '../../src/config.js';
import { openBackend } from '../../src/server/backend.js';
import { newCall } from '../../src/store/database.js';
import { send } from '../../src/store/request/send.js';
import { ensureTables } from '../../src/store/table/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
const backend = await openBackend(readConfig({}, { CELLPORT_DATA_DIR: folder }));
afterAll(async () => {
  await backend.close();
});

test("the log of single writes is checkpointed into the embedded engine's database", async () => {
  const { database } = backend;
  await ensureTables(database);
  const megabytes = () => {
    const name = readdirSync(join(folder, 'dynamodb')).find((each) => each.endsWith('.db'));
    return Math.floor(statSync(join(folder, 'dynamodb', name ?? '.db')).size / 1e6);
  };
  // Single writes alone stay in the log, however many there are.
  for (let at = 0; at < 60; at += 1) {
    const Item = { pk: 'large', sk: String(at), text: 'x'.repeat(390_000) };
    await send(newCall(database), 'put', { TableName: database.tables.derived, Item });
  }
  await vi.waitFor(() => expect(megabytes()).toBeGreaterThanOrEqual(18), { timeout: 30_000 });
});
