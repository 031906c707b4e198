import type { FastifyInstance } from 'fastify';

/** Whether the server can answer, and what it knows of the cells it answers from. */
export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, one sentence each; empty where it is. */
  readonly reasons: readonly string[];
  /** Null where no consumer runs. */
  readonly stream: StreamReadiness | null;
}

export interface StreamReadiness {
  /** Whether this process keeps the cells. */
  readonly owner: boolean;
  /** Milliseconds since the cells were last known to hold all of the stream; null before the first time. */
  readonly behindMs: number | null;
  readonly countsExact: boolean;
  /** A stretch of the stream that nobody has read; counts may be wrong until a recount. */
  readonly gap: { readonly since: string; readonly reason: string } | null;
  /** Records that could not be understood and were put aside. */
  readonly setAside: number;
}

const ANSWERS_WITHIN_MS = 2_000;

/**
 * Readiness from a read that must succeed and from the consumer's state. The read is given a signal that ends it after
 * two seconds: whoever asks wants to know now. Lag and gaps are told and keep nothing from being served.
 */
export async function checkReadiness(
  ping: (signal: AbortSignal) => Promise<unknown>,
  stream: StreamReadiness | null,
): Promise<Readiness> {
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`DynamoDB gave no answer in ${ANSWERS_WITHIN_MS} ms`)));
  });
  try {
    await Promise.race([ping(signal), late]);
    return { ready: true, reasons: [], stream };
  } catch (error) {
    return { ready: false, reasons: [error instanceof Error ? error.message : String(error)], stream };
  }
}

/** `/healthz`: this process runs. `/readyz`: it can answer queries; 503 with the reasons where it cannot. */
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
