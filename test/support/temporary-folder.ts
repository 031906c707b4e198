import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * A new folder for the tests of a file or of a `describe`, which is removed after them. Call it before anything that
 * writes to the folder until `afterAll`.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-test-'));
  // Processes that have just been killed may still write to it.
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  return folder;
}
