import { postQuery } from '../support/post-query.js';

const WAITS_MS = 30_000;

/** What requests may fail with while there are faults. */
export const PASSING: readonly string[] = ['NEVER_SENT', 'BROKEN', 'UNAVAILABLE', 'THROTTLED'];

/** A request that failed: with the server's code, `BROKEN` without an answer, or `NEVER_SENT`. */
export class Failure extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(`${code}: ${message}`);
    this.code = code;
    this.details = details;
  }
}

interface Reply<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
}

/** Sends a GraphQL request; rejects with a `Failure`. */
export async function ask<T>(url: string, query: string, variables: object): Promise<T> {
  let reply: Reply<T>;
  try {
    const response = await postQuery(url, query, { variables, signal: AbortSignal.timeout(WAITS_MS) });
    reply = (await response.json()) as Reply<T>;
  } catch (error) {
    const { code = '' } = ((error as Error).cause ?? {}) as { readonly code?: string };
    throw new Failure(code === 'ECONNREFUSED' ? 'NEVER_SENT' : 'BROKEN', String(error));
  }
  const [failure] = reply.errors ?? [];
  if (failure) {
    const { code = 'UNKNOWN', ...details } = failure.extensions ?? {};
    throw new Failure(String(code), failure.message, details);
  }
  return reply.data as T;
}
