import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { killOrphan } from '../../src/engine/orphan.js';

test('an orphan is ended on a machine without ps', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cellport-files-'));
  const mark = '-Dcellport.folder=1:23';
  const child = spawn(process.execPath, ['-e', 'setInterval(()=>0,1000)', 'DynamoDBLocal.jar', mark, folder], {
    stdio: 'ignore',
  });
  const path = process.env['PATH'];
  onTestFinished(async () => {
    process.env['PATH'] = path;
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });
  await new Promise((resolve) => child.once('spawn', resolve));
  process.env['PATH'] = join(folder, 'nothing');
  // One more character, and one less, belong to other folders.
  await killOrphan(child.pid ?? 0, `${mark}4`);
  await killOrphan(child.pid ?? 0, mark.slice(0, -1));
  expect(child.signalCode).toBeNull();
  await killOrphan(child.pid ?? 0, mark);
  await expect.poll(() => child.signalCode, { timeout: 30_000 }).toBe('SIGKILL');
});
