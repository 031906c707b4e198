import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { hasChromium } from '../web/browser.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Builds the map page and GraphiQL once for all tests of a run, unless that has been done: as they are published, but for
 * 5 % of their compression.
 */
export default async function buildPages(): Promise<void> {
  if (!hasChromium) return;
  const options = ['--if-needed', '--pages', '--compress-quickly'];
  await promisify(execFile)(process.execPath, ['scripts/build.mjs', ...options], { cwd: root });
}
