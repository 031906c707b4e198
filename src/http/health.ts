import type { FastifyInstance } from 'fastify';

/** Whether the server can answer, and how far the counts lag. */
export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, one sentence each; empty if it is. */
  readonly reasons: readonly string[];
  /** Null if this server runs no stream consumer. */
  readonly stream: StreamReadiness | null;
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

/**
 * Readiness by a read that has to succeed within two seconds, and by what is known to prevent writes; with the state of the
 * stream consumer: a lag or a gap is reported, but does not make the server unready.
 */
export async function checkReadiness(
  ping: (signal: AbortSignal) => Promise<unknown>,
  faultsNow: () => Promise<readonly string[]>,
  stream: StreamReadiness | null,
): Promise<Readiness> {
  const signal = AbortSignal.timeout(PING_TIMEOUT_MS);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`DynamoDB did not answer within ${PING_TIMEOUT_MS} ms`)));
  });
  try {
    const [faults] = await Promise.race([Promise.all([faultsNow(), ping(signal)]), late]);
    return { ready: faults.length === 0, reasons: faults, stream };
  } catch (error) {
    return { ready: false, reasons: [error instanceof Error ? error.message : String(error)], stream };
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
