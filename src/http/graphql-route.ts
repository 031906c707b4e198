import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { GraphqlServer } from '../graphql/server.js';
import type { Admit } from './admit.js';
import { foreignPage, isForeignPage } from './origins.js';

export interface GraphqlRouteOptions {
  readonly graphql: GraphqlServer;
  readonly admit: Admit;
  /** See `HttpOptions`. */
  readonly allowedOrigins: readonly string[];
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
export function addGraphql(server: FastifyInstance, { graphql, admit, allowedOrigins }: GraphqlRouteOptions): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    handler: async (request, reply) => {
      if (isVisit(request)) return reply.redirect('/graphiql/');
      const { method, headers, url } = request;
      const forbidsWrites = isForeignPage(headers, allowedOrigins) ? foreignPage(headers) : undefined;
      const answer = await admit(request, reply, async ({ body, gone, waitedMs }) =>
        graphql.answer({ method, headers, search: searchOf(url), body, forbidsWrites }, gone, waitedMs),
      );
      if (answer === undefined) return reply;
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
