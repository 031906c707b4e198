import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { badInput } from '../errors.js';
import type { SubscriptionAnswer, SubscriptionRequest } from '../graphql/subscriptions.js';
import type { SubscriptionsOptions } from './websocket.js';

/** For proxies that end a connection on which nothing happens, and to find out who is gone. */
const PING_EVERY_MS = 12_000;
/** A client that has taken nothing for this long is gone. */
const TAKES_WITHIN_MS = 20_000;

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  // Proxies that collect answers before they pass them on (nginx) leave this one alone.
  'x-accel-buffering': 'no',
};

const eventOf = (answer: SubscriptionAnswer) => `event: next\ndata: ${JSON.stringify(answer)}\n\n`;

/** Writes and resolves when it has left this process: whoever waits for that makes nothing more meanwhile. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.writableEnded || response.destroyed) return;
  const late = setTimeout(() => response.destroy(), TAKES_WITHIN_MS);
  const gone = new AbortController();
  try {
    await Promise.race([
      new Promise<void>((resolve) => response.write(text, () => resolve())),
      once(response, 'close', { signal: gone.signal }).catch(() => undefined),
    ]);
  } finally {
    gone.abort();
    clearTimeout(late);
  }
}

/** What a client asks for in the URL of an EventSource. */
function requestIn(query: unknown): SubscriptionRequest {
  const { query: text, operationName, variables } = query as Readonly<Record<string, string | undefined>>;
  if (variables === undefined) return { query: text, operationName };
  try {
    return { query: text, operationName, variables: JSON.parse(variables) as unknown };
  } catch {
    throw badInput('variables', variables, 'JSON');
  }
}

/**
 * Subscriptions as server-sent events from `/graphql/stream`, in the protocol of graphql-sse, a connection for each. The
 * handler of that library takes in all answers as fast as they come, and so buffers without end for a slow client.
 */
export function addEventStreams(server: FastifyInstance, { subscribe, log }: SubscriptionsOptions): void {
  async function send(
    response: ServerResponse,
    request: SubscriptionRequest,
    headers: OutgoingHttpHeaders,
  ): Promise<void> {
    const begun = await subscribe(request);
    const answers = 'errors' in begun ? [begun][Symbol.iterator]() : begun;
    // The connection may have ended meanwhile, or end while nothing happens.
    response.once('close', () => void ('errors' in begun ? undefined : begun.return?.()));
    if (response.destroyed && !('errors' in begun)) await begun.return?.();
    response.writeHead(200, { ...headers, ...HEAD });
    await write(response, ':\n\n');
    const pinging = setInterval(() => {
      if (response.writableLength === 0) void write(response, ':\n\n');
    }, PING_EVERY_MS);
    try {
      for (;;) {
        const { done, value } = await answers.next();
        if (done === true) break;
        await write(response, eventOf(value));
      }
      await write(response, 'event: complete\ndata: \n\n');
    } finally {
      clearInterval(pinging);
      response.end();
    }
  }

  server.route({
    method: ['GET', 'POST'],
    url: '/graphql/stream',
    handler: async ({ method, query, body }, reply) => {
      const request = method === 'GET' ? requestIn(query) : ((body ?? {}) as SubscriptionRequest);
      reply.hijack();
      send(reply.raw, request, reply.getHeaders() as OutgoingHttpHeaders).catch((err: unknown) => {
        log.error({ err }, 'A stream of events met an unexpected error');
        reply.raw.destroy();
      });
    },
  });
}
