import { expect } from 'vitest';

import { rounds } from '../../support/rounds.js';
import { simulate } from './simulate.js';

const chosen = process.env['CELLPORT_SEED'];

/** The number of seeds in both test files together: CELLPORT_SEED alone is one, to replay what it found. */
export const SEEDS =
  chosen !== undefined && process.env['CELLPORT_RUNS'] === undefined ? 1 : rounds('simulatedStreams');

/** The seeds from `from` to below `to`, counted from CELLPORT_SEED if it is set. */
function seeds(from: number, to: number): number[] {
  const all = Array.from({ length: SEEDS }, (_, index) => index);
  return all.filter((index) => index >= from && index < to).map((index) => Number(chosen ?? 0) + index);
}

/** Runs the seeds in sequence, expects no failures, and reports the seed to replay. */
export async function expectPeace(from: number, to: number): Promise<void> {
  const wrong: string[] = [];
  for (const seed of seeds(from, to)) {
    const { failures } = await simulate(seed);
    if (failures.length > 0) wrong.push(`CELLPORT_SEED=${seed}: ${failures.join('; ')}`);
    if (wrong.length >= 5) break;
  }
  expect(wrong).toEqual([]);
}
