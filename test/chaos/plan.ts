import { randomFrom } from '../support/random.js';
import { WIRE_FAULTS, type WireFault } from './fault-proxy.js';

/** Faults of processes and machines. */
export const PROCESS_FAULTS = [
  'server killed',
  'server paused',
  'engine killed',
  'engine paused',
  'keeper killed',
  'clock set',
  'disk full',
] as const;
export type Fault = WireFault | (typeof PROCESS_FAULTS)[number];

/** A fault that befalls a server, or the engine, for a time. */
export interface Episode {
  readonly atMs: number;
  readonly forMs: number;
  readonly fault: Fault;
  /** The number of a server. */
  readonly server: number;
  /** The share of requests that meet it. */
  readonly share: number;
  /** By how much the server's clock is ahead. */
  readonly aheadMs: number;
}

const HOUR_MS = 3_600_000;
const JUMPS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS];
const PARTITIONS: ReadonlySet<Fault> = new Set<Fault>(['partitioned', 'partitioned for answers', 'unreachable']);

/**
 * The faults of a run, decided by its seed alone. Up to three at a time; in turns of all kinds, so that each is met as
 * often as the others; calm in between, in which what was behind catches up.
 */
export function planFaults(seed: number, forMs: number, servers: number): Episode[] {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const kinds: Fault[] = [];
  const next = (): Fault => {
    if (kinds.length === 0) kinds.push(...WIRE_FAULTS, ...PROCESS_FAULTS);
    return kinds.splice(Math.floor(random() * kinds.length), 1)[0] as Fault;
  };
  const plan: Episode[] = [];
  for (let atMs = 1_500; atMs < forMs - 2_000;) {
    const lasts = 2_000 + random() * 6_000;
    const together = 1 + Math.floor(random() * 3);
    for (let n = 0; n < together; n += 1) {
      const fault = next();
      plan.push({
        atMs: atMs + random() * 1_000,
        // Sometimes longer than a lease.
        forMs: fault === 'server paused' && random() < 0.3 ? 13_000 : lasts,
        fault,
        server: Math.floor(random() * servers),
        share: PARTITIONS.has(fault) ? 1 : pick([0.1, 0.3, 0.6]),
        aheadMs: pick(JUMPS),
      });
    }
    atMs += lasts + 1_000 + random() * 5_000;
  }
  return plan;
}
