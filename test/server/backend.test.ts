import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { readConfig } from '../../src/config.js';
import { openBackend } from '../../src/server/backend.js';

test('a server for other machines says at its start that they may reach the embedded engine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-backend-'));
  const open = (host: string) => openBackend(readConfig({}, { HOST: host, CELLPORT_DATA_DIR: folder }));
  const [local, exposed] = await Promise.all([open('127.0.0.1'), open('0.0.0.0')]);
  expect(local.where).toBe(`embedded DynamoDB Local, data in ${folder}`);
  expect(exposed.where).toMatch(/; close its port \d+ to other machines$/);
  await Promise.all([local.close(), exposed.close()]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
});
