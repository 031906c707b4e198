import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

import { IN_PROCESS } from './addresses.js';

/** Statuses whose answers have no body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * A fetch handler for a server that does not listen: hooks, limits and routes are the same. WebSockets need a socket of
 * Node's, so clients of subscriptions use event streams.
 */
export async function fetchFrom(server: FastifyInstance): Promise<(request: Request) => Promise<Response>> {
  await server.ready();
  // Node collects a request that nobody holds, and its signal then no longer tells that the client has gone.
  const answered = new WeakMap<Readable, Request>();
  return async (request) => {
    const { pathname, search, host, protocol } = new URL(request.url);
    const answer = await server.inject({
      method: request.method as 'GET',
      url: pathname + search,
      headers: { host, ...Object.fromEntries(request.headers), 'x-forwarded-proto': protocol.slice(0, -1) },
      remoteAddress: IN_PROCESS,
      signal: request.signal,
      payloadAsStream: true,
      ...(request.body === null
        ? {}
        : { payload: Readable.fromWeb(request.body as Parameters<typeof Readable.fromWeb>[0]) }),
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of [value ?? []].flat()) headers.append(name, String(one));
    }
    const stream = answer.stream();
    answered.set(stream, request);
    const body = WITHOUT_BODY.has(answer.statusCode) ? null : (Readable.toWeb(stream) as ReadableStream);
    return new Response(body, { status: answer.statusCode, headers });
  };
}
