import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { CellportError } from '../../errors.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../private-files.js';
import { ownerIsGone, ownName } from '../../stream/consume/owners.js';

async function tryLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, ownName(), { flag: 'wx', ...PRIVATE_FILE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Makes sure that only one process works on a file; returns how to let others. The lock of a process that has died on
 * this machine is taken over. Throws CONFLICT, with `what` is being done, while another process holds it.
 */
export async function lockFile(file: string, what: string): Promise<() => Promise<void>> {
  const path = `${file}.lock`;
  await mkdir(dirname(path), PRIVATE_FOLDER);
  if (!(await tryLock(path))) {
    const owner = await readFile(path, 'utf8').catch(() => '');
    if (ownerIsGone(owner)) await rm(path, { force: true });
    if (!(await tryLock(path))) {
      throw new CellportError('CONFLICT', `${what} by another process; if there is none, remove ${path}`);
    }
  }
  return () => rm(path, { force: true });
}
