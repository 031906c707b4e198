import { expect } from 'vitest';

import { rounds } from '../../support/rounds.js';
import { simulate } from './simulate.js';

const chosen = process.env['CELLPORT_SEED'];

/** The number of seeds in both test files together. */
export const SEEDS = Math.max(rounds('simulatedStreams'), Number(chosen ?? 0) + 1);

/** The seeds from `from` to below `to`; only CELLPORT_SEED if it is set, to replay what it found. */
export function seeds(from: number, to: number): number[] {
  if (chosen !== undefined) return [Number(chosen)].filter((seed) => seed >= from && seed < to);
  return Array.from({ length: to - from }, (_, index) => from + index);
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
