import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { COLLECTIONS, Run, steadyMarkers } from './clients.js';
import { Fleet, type FleetOptions } from './fleet.js';
import { checkHistory, type Operation } from './history.js';
import { planFaults } from './plan.js';
import { read } from './readers.js';
import { Replica } from './replica.js';
import { ask, Failure } from './request.js';
import { settle } from './settle.js';
import { write } from './writers.js';

const WRITERS = 6;
const READERS = 6;
const COLLECTION = `mutation ($key: String!, $geoIndex: Boolean!) {
  createCollection(input: { key: $key, name: $key, geoIndex: $geoIndex }) { key } }`;
const MARKERS = `mutation ($key: String!, $markers: [MarkerInput!]!) {
  upsertMarkers(collection: $key, markers: $markers) { failures { message } } }`;

/** Creates a collection with its steady markers, again until a busy machine has done it in time. */
async function prepare(url: string, key: string, signal: AbortSignal): Promise<void> {
  const unless = (code: string) => (error: unknown) => {
    signal.throwIfAborted();
    if (!(error instanceof Failure) || error.code !== code) throw error;
    return undefined;
  };
  for (let done: object | undefined; done === undefined;)
    done = await ask(url, COLLECTION, { key, geoIndex: key === 'indexed' })
      .catch(unless('CONFLICT'))
      .then(() => ask<object>(url, MARKERS, { key, markers: steadyMarkers() }))
      .catch(unless('UNAVAILABLE'));
}

export interface ChaosOptions extends FleetOptions {
  readonly forMs: number;
  /** The compiled Porcupine; undefined if there is none. */
  readonly checker: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly say?: (line: string) => void;
}

function spread(lags: readonly number[]) {
  const sorted = lags.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { answers: lags.length, behind: lags.filter((ms) => ms > 0).length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** What a marker that is not linearizable was asked and told, a line for each operation: `value.version`, milliseconds. */
function explain(key: string, history: readonly Operation[]): string {
  const lines = history
    .filter((each) => each.key === key)
    .toSorted((a, b) => a.call - b.call)
    .map((each) => {
      const told = `${each.value ?? 'none'}.${each.version ?? '?'}${each.expected === undefined ? '' : ` if ${each.expected}`}`;
      return `${each.kind} ${told}: ${each.result}, ${Math.round(each.call / 1_000)} to ${Math.round(each.return / 1_000)}`;
    });
  return [`${key} is not linearizable:`, ...lines].join('\n  ');
}

/**
 * Runs clients and faults against a fleet; the seed decides both, but not the time that things take. Returns the figures,
 * the history, and all that was wrong: nothing if every promise held.
 */
export async function runChaos({ forMs, checker, signal, say = () => undefined, ...options }: ChaosOptions) {
  const { seed } = options;
  const end = new AbortController();
  const followed = new AbortController();
  setMaxListeners(0, end.signal, followed.signal);
  const pause = (ms: number) => sleep(ms, undefined, { signal: end.signal }).catch(() => undefined);
  const abort = () => end.abort();
  signal?.addEventListener('abort', abort);
  const fleet = new Fleet(options);
  try {
    await fleet.open();
    const run = new Run(fleet, end.signal);
    for (const key of COLLECTIONS) await prepare(fleet.servers[0]?.url ?? '', key, end.signal);
    const replicas = fleet.servers.flatMap((server) => COLLECTIONS.map((each) => new Replica(run, server, each)));
    const following = replicas.map((replica) => replica.follow(followed.signal));
    const { wrong: before } = await settle(run, replicas);
    if (before.length > 0) throw new Error(`before any fault: ${before.join(', ')}`);
    run.begin();
    const faults: Record<string, number> = {};
    const befalling = planFaults(seed, forMs, fleet.servers.length).map(async (episode) => {
      const { fault, atMs, server } = episode;
      await pause(atMs);
      if (end.signal.aborted) return;
      say(`${(atMs / 1_000).toFixed(1)} s: ${fault}, server ${server}, ${(episode.forMs / 1_000).toFixed(1)} s`);
      if (await fleet.befall(episode)) faults[fault] = (faults[fault] ?? 0) + 1;
    });
    const clients = [
      ...Array.from({ length: WRITERS }, (_, n) => write(run, n + 1, seed * 100 + n)),
      ...Array.from({ length: READERS }, (_, n) => read(run, WRITERS + n + 1, seed * 100 + 50 + n)),
    ];
    await pause(forMs);
    end.abort();
    await Promise.all([...clients, ...befalling]);
    signal?.throwIfAborted();
    say('all faults have ended');
    await fleet.healed();
    const settled = await settle(run, replicas);
    followed.abort();
    await Promise.all(following);
    const verdict = checker === undefined ? undefined : checkHistory(checker, run.history);
    const stale = run.wrong.filter((one) => one.startsWith('stale'));
    const violations = verdict?.violations ?? [];
    return {
      seed,
      seconds: Math.round(forMs / 1_000),
      servers: fleet.servers.length,
      operations: run.history.length,
      faults,
      requestsThatMetFaults: fleet.requestsMet(),
      linearizable: verdict && { ...verdict, linearizable: verdict.linearizable.length },
      acknowledgedLostWrongOrDoubled: run.wrong.length - stale.length + violations.length,
      staleAnswers: stale.length,
      stalenessMs: Object.fromEntries(Object.entries(run.lags).map(([of, lags]) => [of, spread(lags)])),
      notSettled: settled.wrong.length,
      settledAfterMs: Math.round(settled.tookMs),
      answers: run.counts,
      wrong: [
        ...run.wrong,
        ...fleet.servers.flatMap(({ crashes }) => crashes),
        ...settled.wrong,
        ...violations.map((key) => explain(key, run.history)),
      ],
      history: run.history,
    };
  } finally {
    signal?.removeEventListener('abort', abort);
    end.abort();
    followed.abort();
    await fleet.close();
  }
}
