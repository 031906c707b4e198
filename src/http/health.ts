import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';

import { CellportError, reasonFor } from '../errors.js';

/** States that do not affect readiness. */
interface States {
  readonly clock: ClockReadiness;
  /** Null if this server runs no stream consumer. */
  readonly stream: StreamReadiness | null;
  /** Null if this server loads no demo. */
  readonly load: LoadReadiness | null;
  /** Null if search is off. */
  readonly search: SearchReadiness | null;
  /** The sources that this server follows, or waits to follow. */
  readonly sources: readonly SourceReadiness[];
}

/** Whether the server can answer, and how far counts lag behind. */
export interface Readiness extends States {
  readonly ready: boolean;
  /** Reasons why it is not ready, one sentence each; empty if it is. */
  readonly reasons: readonly string[];
}

/** The machine's clock. The server goes by that of DynamoDB, so this does not affect readiness. */
export interface ClockReadiness {
  /** Milliseconds by which it is ahead of DynamoDB's, negative if it is behind; null if unknown. */
  readonly aheadMs: number | null;
  /** What is wrong with it, and what to do; null if nothing is. */
  readonly warning: string | null;
}

/** State of a collection that follows a table. Other servers may follow it; maps show what is known. */
export interface SourceReadiness {
  readonly collection: string;
  readonly table: string;
  /** Whether this process follows it. */
  readonly owner: boolean;
  /** Null before the first time. */
  readonly behindMs: number | null;
  readonly countsExact: boolean;
  /** Why it cannot be read, as far as this process knows; null if it can. */
  readonly failure: string | null;
}

/** State of the search index. The server answers everything else while the index is built. */
export interface SearchReadiness {
  readonly state: 'building' | 'following' | 'failed';
  /** Number of items that the build has read so far. */
  readonly read: number;
  readonly reason: string | null;
}

/** State of the demo's load. The server answers meanwhile, and also if the load has failed. */
export interface LoadReadiness {
  readonly state: 'loading' | 'complete' | 'failed';
  /** Cities checked so far: the list is checked before anything is written. */
  readonly checked: number;
  /** Cities written so far. */
  readonly cities: number;
  /** Total number of cities; null until it is known. */
  readonly of: number | null;
  /** Whether the counts include all of them. */
  readonly counted: boolean;
  /** Why the load failed; null if it did not. */
  readonly reason: string | null;
}

export interface StreamReadiness {
  /** Whether this process runs the stream consumer. */
  readonly owner: boolean;
  /** Milliseconds since the cells last included the whole stream; null before the first time. */
  readonly behindMs: number | null;
  readonly countsExact: boolean;
  /** A part of the stream that was never read; counts may be wrong until a recount. */
  readonly gap: { readonly since: string; readonly reason: string } | null;
  /** Number of dead letters: records that could not be processed. */
  readonly deadLetters: number;
}

const PING_TIMEOUT_MS = 2_000;
/** While the demo loads, the embedded engine is busy, and it executes commands one by one. */
const PING_WHILE_LOADING_MS = 10_000;

/**
 * Checks readiness: a read must succeed within two seconds (ten while the demo loads), and nothing known may prevent
 * writes. Also reports the states of the clock, the stream consumer, the demo's load and the search index, which do not
 * affect readiness.
 */
export async function checkReadiness(
  ping: (signal: AbortSignal) => Promise<unknown>,
  faultsNow: () => Promise<readonly string[]>,
  states: States,
): Promise<Readiness> {
  const withinMs = states.load?.state === 'loading' ? PING_WHILE_LOADING_MS : PING_TIMEOUT_MS;
  const signal = AbortSignal.timeout(withinMs);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () =>
      reject(new CellportError('UNAVAILABLE', `DynamoDB did not answer within ${withinMs} ms`)),
    );
  });
  try {
    const [faults] = await Promise.race([Promise.all([faultsNow(), ping(signal)]), late]);
    return { ready: faults.length === 0, reasons: faults, ...states };
  } catch (error) {
    return { ready: false, reasons: [reasonFor(error)], ...states };
  }
}

/** Whether the sender of a request administers all collections, or anyone may on this server. */
export type IsAdmin = (headers: IncomingHttpHeaders) => Promise<boolean>;

/**
 * `/healthz`: 200 while this process runs. `/readyz`: 200 if it can answer queries, else 503 with the reasons. Neither
 * waits in line; however many ask for readiness at once, it is checked once. Only admins see which collections it is about.
 */
export function addHealth(server: FastifyInstance, ready: () => Promise<Readiness>, isAdmin: IsAdmin): void {
  let checking: Promise<Readiness> | undefined;
  server.get('/healthz', async (_request, reply) => reply.header('cache-control', 'no-store').send({ healthy: true }));
  server.get('/readyz', async ({ headers }, reply) => {
    checking ??= ready().finally(() => {
      checking = undefined;
    });
    const readiness = await checking;
    const { stream } = readiness;
    // A reason may name a collection, and a source is one.
    const gap = stream?.gap ? { ...stream.gap, reason: 'see `cellport doctor`' } : null;
    const told = (await isAdmin(headers)) ? {} : { sources: [], stream: stream && { ...stream, gap } };
    return reply
      .code(readiness.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ ...readiness, ...told });
  });
}
