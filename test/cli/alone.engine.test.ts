import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { lockFile } from '../../src/cli/import/alone.js';
import { ownName } from '../../src/stream/consume/owners.js';

test('a file is locked until its lock is released, or the process that holds it has died', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-lock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'copy');
  const unlock = await lockFile(file, 'a is being imported');
  await expect(lockFile(file, 'b is being imported')).rejects.toMatchObject({
    code: 'CONFLICT',
    message: /^b is being imported by another process/,
  });
  await unlock();
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(`${file}.lock`, ownName().replace(`/${process.pid}/`, `/${pid}/`));
  await (
    await lockFile(file, 'c is being imported')
  )();
  await (
    await lockFile(file, 'd is being imported')
  )();
});
