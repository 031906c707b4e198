import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { removeFolder } from './remove-folder.js';

/**
 * A new folder for the tests of a file or of a `describe`, which is removed after them. Call it before anything that
 * writes to the folder until `afterAll`.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-test-'));
  afterAll(() => removeFolder(folder));
  return folder;
}
