import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

import { removeFolder } from '../support/remove-folder.js';
import { rounds } from '../support/rounds.js';
import { buildChecker } from './history.js';
import { runChaos } from './run.js';

const seed = Number(process.env['CELLPORT_SEED'] ?? Math.floor(Math.random() * 1e9));
const MINUTES = rounds('chaos') / 6;

test(`whatever befalls servers and their database, no promise is broken (npm run chaos -- --minutes ${MINUTES} --seed ${seed})`, async ({
  signal,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'cellport-porcupine-'));
  try {
    const checker = buildChecker(folder);
    const options = { compiled: inject('compiled'), seed, forMs: MINUTES * 60_000, checker, signal };
    const { operations, wrong } = await runChaos(options);
    expect(wrong).toEqual([]);
    expect(operations).toBeGreaterThan(0);
  } finally {
    await removeFolder(folder);
  }
});
