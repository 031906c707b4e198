import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { GraphqlServer } from '../graphql/server.js';
import { foreignPage, isForeignPage } from './origins.js';

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

/** Whether someone has opened the address in a browser. */
function isVisit({ method, headers, url }: FastifyRequest): boolean {
  return method === 'GET' && searchOf(url) === '' && (headers.accept ?? '').includes('text/html');
}

/** `/graphql` by POST, and by GET for queries with a header that pages of other sites cannot send. */
export function addGraphql(server: FastifyInstance, graphql: GraphqlServer, allowedOrigins: readonly string[]): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    handler: async (request, reply) => {
      if (isVisit(request)) return reply.redirect('/graphiql/');
      const { method, headers, url, body } = request;
      const forbidsWrites = isForeignPage(headers, allowedOrigins) ? foreignPage(headers) : undefined;
      const asked = { method, headers, search: searchOf(url), body, forbidsWrites };
      const answer = await graphql.answer(asked, goneSignal(reply));
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
