import { setMaxListeners } from 'node:events';

import type { ServerClock } from './clock.js';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** How to connect to an AWS service. Omitted values come from the SDK's environment variables and credential chain. */
export interface Connection {
  /** A function is called for each command. */
  readonly endpoint?: string | (() => Promise<string>) | undefined;
  readonly region?: string | (() => Promise<string>) | undefined;
  readonly credentials?: Credentials | (() => Promise<Credentials>) | undefined;
}

export interface ConnectionSettings {
  /** Maximum attempts per command. The SDK waits up to 1, 2 and 4 s before it retries a throttled command. */
  readonly attempts?: number | undefined;
  /** Time limit of one attempt, in milliseconds. */
  readonly attemptMs?: number | undefined;
  readonly maxSockets?: number | undefined;
}

const CONNECT_WITHIN_MS = 2_000;

/** The endpoint provider that the SDK calls for each command. */
const providerOf = (endpoint: () => Promise<string>) => async () => {
  const { protocol, hostname, port, pathname } = new URL(await endpoint());
  return { protocol, hostname, port: Number(port), path: pathname };
};

/**
 * Options for every AWS SDK client: keep-alive connections, time limits, and retries with jitter of throttled commands
 * and broken connections.
 */
export function clientOptions(
  { endpoint, region, credentials }: Connection,
  { attempts = 3, attemptMs = 5_000, maxSockets = 64 }: ConnectionSettings = {},
) {
  const sockets = { keepAlive: true, maxSockets };
  return {
    ...(endpoint === undefined ? {} : { endpoint: typeof endpoint === 'string' ? endpoint : providerOf(endpoint) }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    retryMode: 'standard',
    maxAttempts: attempts,
    requestHandler: {
      httpAgent: sockets,
      httpsAgent: sockets,
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: attemptMs,
      throwOnRequestTimeout: true,
    },
  };
}

/** Where to add `settingClock`: closest to the wire. */
export const SETTING_CLOCK = { step: 'deserialize', priority: 'low', name: 'settingClock' } as const;

/** Middleware for an AWS SDK client that sets a clock by the dates of the answers. */
export function settingClock(clock: ServerClock) {
  return <Args, Result extends { readonly response: unknown }>(next: (args: Args) => Promise<Result>) =>
    async (args: Args): Promise<Result> => {
      const began = clock.now();
      const result = await next(args);
      const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      clock.answered(Date.parse(headers?.['date'] ?? ''), clock.now() - began);
      return result;
    };
}

/** How long a command to AWS may take, retries and their pauses included: less than the 10 s that a request may take. */
export const GIVE_UP_AFTER_MS = 8_000;

/** How long a command may take, including retries, and the error with which it then fails. */
export interface Deadline {
  readonly ms: number;
  readonly late: (reason: string) => Error;
  readonly signal?: AbortSignal | undefined;
  /** Converts failures of the work into the errors to throw; by default they are thrown unchanged. */
  readonly failure?: ((error: unknown) => unknown) | undefined;
}

/**
 * The result of `work` within a time limit. Throws when the time is over, or the signal's reason when it is aborted,
 * without waiting for the work: the SDK would first wait out the pause before a retry.
 */
export async function withDeadline<T>(
  { ms, late, signal: outer, failure = (error) => error }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(late(`no answer within ${ms} ms`)), ms);
  const pass = () => controller.abort(outer?.reason);
  if (outer) {
    // Every command in flight listens; above ten listeners Node warns of a leak.
    setMaxListeners(0, outer);
    outer.addEventListener('abort', pass, { once: true });
  }
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } catch (error) {
    throw signal.aborted ? signal.reason : failure(error);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', pass);
  }
}
