import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { GraphqlServer } from '../graphql/server.js';

/** Aborts when the connection ends before the answer is out. */
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

/** Whether somebody has opened the address in a browser to see what is there. */
function isVisit({ method, headers, url }: FastifyRequest): boolean {
  return method === 'GET' && searchOf(url) === '' && (headers.accept ?? '').includes('text/html');
}

/** `/graphql` by POST, and by GET for queries of clients that say by a header that they are no page of another site. */
export function addGraphql(server: FastifyInstance, graphql: GraphqlServer): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    handler: async (request, reply) => {
      if (isVisit(request)) return reply.redirect('/graphiql/');
      const { method, headers, url, body } = request;
      const answer = await graphql.answer({ method, headers, search: searchOf(url), body }, goneSignal(reply));
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
