import type { FastifyInstance } from 'fastify';

/** Whether the server can answer, and how far the counts lag. */
export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, one sentence each; empty if it is. */
  readonly reasons: readonly string[];
  /** Null if this server runs no stream consumer. */
  readonly stream: StreamReadiness | null;
  /** Null if this server loads no demo. */
  readonly load: LoadReadiness | null;
  /** Null if search is off. */
  readonly search: SearchReadiness | null;
}

/** How far the search index is. The server answers everything else meanwhile. */
export interface SearchReadiness {
  readonly state: 'building' | 'following' | 'failed';
  /** Items that the build has read. */
  readonly read: number;
  readonly reason: string | null;
}

/** How far the demo is loaded. The server answers meanwhile, and also if the load has failed. */
export interface LoadReadiness {
  readonly state: 'loading' | 'complete' | 'failed';
  /** Cities that are written. */
  readonly cities: number;
  /** Cities of the demo; null until they are counted. */
  readonly of: number | null;
  /** Why it failed. */
  readonly reason: string | null;
}

export interface StreamReadiness {
  /** Whether this process updates the cells. */
  readonly owner: boolean;
  /** Milliseconds since the cells last included the whole stream; null before the first time. */
  readonly behindMs: number | null;
  readonly countsExact: boolean;
  /** A part of the stream that was never read; counts may be wrong until a recount. */
  readonly gap: { readonly since: string; readonly reason: string } | null;
  /** Number of dead letters: records that could not be processed. */
  readonly setAside: number;
}

const PING_TIMEOUT_MS = 2_000;
/** The load keeps an embedded engine busy, which answers one command after another. */
const PING_WHILE_LOADING_MS = 10_000;

/**
 * Readiness by a read that has to succeed within two seconds, ten while the demo is loaded, and by what is known to
 * prevent writes; with the states of the stream consumer, of the demo's load and of the search index: none of
 * them makes the server unready.
 */
export async function checkReadiness(
  ping: (signal: AbortSignal) => Promise<unknown>,
  faultsNow: () => Promise<readonly string[]>,
  states: Pick<Readiness, 'stream' | 'load' | 'search'>,
): Promise<Readiness> {
  const withinMs = states.load?.state === 'loading' ? PING_WHILE_LOADING_MS : PING_TIMEOUT_MS;
  const signal = AbortSignal.timeout(withinMs);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`DynamoDB did not answer within ${withinMs} ms`)));
  });
  try {
    const [faults] = await Promise.race([Promise.all([faultsNow(), ping(signal)]), late]);
    return { ready: faults.length === 0, reasons: faults, ...states };
  } catch (error) {
    return { ready: false, reasons: [error instanceof Error ? error.message : String(error)], ...states };
  }
}

/** `/healthz`: this process runs. `/readyz`: it can answer queries; 503 with the reasons if not. */
export function addHealth(server: FastifyInstance, ready: () => Promise<Readiness>): void {
  server.get('/healthz', async (_request, reply) => reply.header('cache-control', 'no-store').send({ healthy: true }));
  server.get('/readyz', async (_request, reply) => {
    const readiness = await ready();
    return reply
      .code(readiness.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(readiness);
  });
}
