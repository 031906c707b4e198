import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { hasChromium } from '../web/browser.js';
import { startShared } from './start-engine.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Builds the map page and GraphiQL once for all tests of a run, unless they exist: as published, except for 5 % of
 * their compression.
 */
export default async function buildPages(): Promise<void> {
  if (!hasChromium) return;
  const options = ['--if-needed', '--pages', '--compress-quickly'];
  const building = promisify(execFile)(process.execPath, ['scripts/build.mjs', ...options], { cwd: root });
  // Vitest sets up one project after the other: DynamoDB Local starts meanwhile.
  await Promise.all([building, startShared()]);
}
