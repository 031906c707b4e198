import { setTimeout as sleep } from 'node:timers/promises';

import { COLLECTIONS, read, Run, steadyMarkers, write } from './clients.js';
import { Fleet, type FleetOptions } from './fleet.js';
import { checkHistory } from './history.js';
import { planFaults } from './plan.js';
import { Replica } from './replica.js';
import { ask, Failure } from './request.js';
import { settle } from './settle.js';

const WRITERS = 6;
const READERS = 6;
const COLLECTION = `mutation ($key: String!, $geoIndex: Boolean!) {
  createCollection(input: { key: $key, name: $key, geoIndex: $geoIndex }) { key } }`;
const MARKERS = `mutation ($key: String!, $markers: [MarkerInput!]!) {
  upsertMarkers(collection: $key, markers: $markers) { failures { code message } } }`;

/** Creates a collection with its steady markers, again until a busy machine has done it in time. */
async function prepare(url: string, key: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await ask(url, COLLECTION, { key, geoIndex: key === 'indexed' }).catch((error: unknown) => {
        if (!(error instanceof Failure) || error.code !== 'CONFLICT') throw error;
      });
      return void (await ask(url, MARKERS, { key, markers: steadyMarkers() }));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || error.code !== 'UNAVAILABLE') throw error;
    }
  }
}

export interface ChaosOptions extends FleetOptions {
  readonly forMs: number;
  /** The compiled Porcupine; undefined if there is none. */
  readonly checker: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly say?: (line: string) => void;
}

const quantile = (sorted: readonly number[], share: number) =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);

function spread(lags: readonly number[]) {
  const sorted = lags.toSorted((a, b) => a - b);
  return {
    answers: lags.length,
    late: lags.filter((ms) => ms > 0).length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  };
}

/** A run's figures, and all that was wrong: empty if every promise held. */
export type Report = Awaited<ReturnType<typeof runChaos>>;

/** Runs clients and faults against a fleet, all decided by the seed but for the time that things take. */
export async function runChaos({ forMs, checker, signal, say = () => undefined, ...options }: ChaosOptions) {
  const { seed } = options;
  const fleet = await Fleet.start(options);
  const end = new AbortController();
  const abort = () => end.abort();
  signal?.addEventListener('abort', abort);
  const run = new Run(fleet, end.signal);
  const followed = new AbortController();
  const faults: Record<string, number> = {};
  try {
    for (const key of COLLECTIONS) await prepare(fleet.servers[0]?.url ?? '', key, end.signal);
    const replicas = fleet.servers.flatMap((server) => COLLECTIONS.map((each) => new Replica(run, server, each)));
    const following = replicas.map((replica) => replica.follow(followed.signal));
    const { wrong: first } = await settle(run, replicas);
    if (first.length > 0) throw new Error(`before any fault: ${first.join(', ')}`);
    const plan = planFaults(seed, forMs, fleet.servers.length);
    const clients = [
      ...Array.from({ length: WRITERS }, (_, n) => write(run, n + 1, seed * 100 + n)),
      ...Array.from({ length: READERS }, (_, n) => read(run, WRITERS + n + 1, seed * 100 + 50 + n)),
    ];
    const befalling = plan.map(async (episode) => {
      await sleep(episode.atMs, undefined, { signal: end.signal }).catch(() => undefined);
      if (end.signal.aborted) return;
      say(
        `${(episode.atMs / 1_000).toFixed(1)} s: ${episode.fault}, server ${episode.server}, ${(episode.forMs / 1_000).toFixed(1)} s`,
      );
      if (await fleet.befall(episode)) faults[episode.fault] = (faults[episode.fault] ?? 0) + 1;
    });
    await sleep(forMs, undefined, { signal: end.signal }).catch(() => undefined);
    end.abort();
    await Promise.all([...clients, ...befalling]);
    signal?.throwIfAborted();
    say('all faults have ended');
    await fleet.healed();
    const settled = await settle(run, replicas);
    followed.abort();
    await Promise.all(following);
    const verdict = checker === undefined ? undefined : checkHistory(checker, run.history);
    const notLinearizable = (verdict?.violations ?? []).map((key) => `${key} is not linearizable`);
    const wrong = [...run.wrong, ...settled.wrong, ...notLinearizable];
    return {
      seed,
      seconds: Math.round(forMs / 1_000),
      servers: fleet.servers.length,
      operations: run.history.length,
      operationsByResult: run.operations,
      faults,
      requestsThatMetFaults: fleet.requestsMet(),
      linearizable: verdict && {
        markers: verdict.linearizable.length,
        not: verdict.violations,
        undecided: verdict.undecided,
      },
      stale: run.wrong.filter((one) => one.startsWith('stale')).length,
      stalenessMs: Object.fromEntries(Object.entries(run.lags).map(([of, lags]) => [of, spread(lags)])),
      settledAfterMs: Math.round(settled.tookMs),
      wrong,
      history: run.history,
    };
  } finally {
    signal?.removeEventListener('abort', abort);
    end.abort();
    followed.abort();
    await fleet.close();
  }
}
