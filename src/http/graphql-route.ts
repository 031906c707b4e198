import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { CellportError } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import { withExtensions } from '../graphql/extensions.js';
import { type GraphqlServer, sourceOf } from '../graphql/server.js';
import type { Log } from '../log.js';
import type { Admission } from './admission/admission.js';
import { foreignPage, isForeignPage } from './origins.js';

export interface GraphqlRouteOptions {
  readonly graphql: GraphqlServer;
  readonly admission: Admission;
  /** See `HttpOptions`. */
  readonly allowedOrigins: readonly string[];
  readonly log: Log;
}

/** Refusing a body this small would cost as much as reading and parsing it. */
const SMALL_BODY_BYTES = 16 * 1024;
const RETRY_AFTER_S = 1;
const TOO_MUCH = new CellportError('UNAVAILABLE', 'the server is overloaded; retry later', {
  retryAfterMs: 1_000 * RETRY_AFTER_S,
});
const REFUSAL = `${JSON.stringify({ errors: [formatted(TOO_MUCH)] })}\n`;

/** Aborts when the connection closes before the answer is sent. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

const searchOf = (url: string) => {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
};

/** Whether a person has opened the URL in a browser. */
function isVisit({ method, headers, url }: FastifyRequest): boolean {
  return method === 'GET' && searchOf(url) === '' && (headers.accept ?? '').includes('text/html');
}

/** Serves `/graphql` by POST, and by GET for queries with a header that pages of other sites cannot send. */
export function addGraphql(
  server: FastifyInstance,
  { graphql, admission, allowedOrigins, log }: GraphqlRouteOptions,
): void {
  function refuse(reply: FastifyReply) {
    log.warn({}, TOO_MUCH.message);
    const body = withExtensions(REFUSAL, reply.request.headers);
    return reply.code(503).header('retry-after', RETRY_AFTER_S).type('application/json; charset=utf-8').send(body);
  }

  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    // Refuse before reading a body that is large or of unknown size. Closing the connection discards it.
    onRequest: async ({ headers }, reply) => {
      const bytes = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : Infinity));
      if (bytes > SMALL_BODY_BYTES && admission.isFull()) return refuse(reply.header('connection', 'close'));
    },
    handler: async (request, reply) => {
      if (isVisit(request)) return reply.redirect('/graphiql/');
      const { method, headers, url, body } = request;
      const forbidsWrites = isForeignPage(headers, allowedOrigins) ? foreignPage(headers) : undefined;
      const asked = { method, headers, search: searchOf(url), body, forbidsWrites };
      const gone = goneSignal(reply);
      const place = await admission.enter(sourceOf(asked) ?? '');
      if (place === undefined) return refuse(reply);
      const answer = await graphql.answer(asked, gone).finally(() => place.leave());
      for (const [name, value] of answer.headers) void reply.header(name, value);
      return reply.code(answer.status).send(answer.body);
    },
  });
  server.route({
    method: ['PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/graphql',
    handler: async (_request, reply) => reply.code(405).header('allow', 'GET, POST').send(),
  });
}
