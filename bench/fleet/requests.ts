import { setTimeout as sleep } from 'node:timers/promises';

import type { Meter } from '../../src/store/request/meter.js';
import type { Servers } from './servers.js';

const RETRY_MS = 200;
const ANSWER_WITHIN_MS = 10_000;

interface Answer<T> {
  readonly data: T;
  readonly cost: Meter;
}

/** A response without errors; rejects otherwise. */
export async function ask<T>(url: string | undefined, query: string, variables: unknown): Promise<Answer<T>> {
  if (url === undefined) throw new Error('connection refused');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-cellport-cost': '1' },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const { data, errors, extensions } = (await response.json()) as {
    data: T;
    errors?: readonly { readonly message: string }[];
    extensions: { readonly cost: Meter };
  };
  if (errors !== undefined) throw new Error(errors[0]?.message);
  return { data, cost: extensions.cost };
}

/** What was seen on a fleet. */
export class Seen {
  requests = 0;
  retried = 0;
  /** Requests that failed again at another server, by message. */
  readonly failed: string[] = [];
  readonly ms: number[] = [];
  /** The cost of the maps that each server answered. */
  readonly costs: Meter[][] = [];
  wrongCounts: string[] = [];
  /** Milliseconds from the response to a write until it is found on the server that wrote, and on another one. */
  readonly own: number[] = [];
  readonly other: number[] = [];
}

/** Sends a request to a server, and once more to the next one if it fails. Resolves with the answer and who gave it. */
export async function balanced<T>(servers: Servers, seen: Seen, to: number, query: string, variables: unknown) {
  seen.requests++;
  try {
    return { ...(await ask<T>(servers.url(to), query, variables)), by: to % servers.count };
  } catch {
    seen.retried++;
    await sleep(RETRY_MS);
    const next = to + 1;
    return { ...(await ask<T>(servers.url(next), query, variables)), by: next % servers.count };
  }
}
