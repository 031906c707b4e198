import type { FastifyInstance, FastifyRequest } from 'fastify';

import { credentialIn } from '../access/credential.js';
import { badInput, limitExceeded } from '../errors.js';
import type { GraphqlAnswer, GraphqlServer } from '../graphql/server.js';
import type { Admission, Line } from '../scheduling/admission.js';
import { kindOf, refusalOf, type Admit, type Admitted } from './admit.js';
import { foreignPage, isForeignPage, isOwnPage } from './origins.js';
import { varyBy } from './vary.js';

const searchOf = (url: string) => {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
};

/** Whether a person has opened the URL in a browser. */
function isVisit({ method, headers, url }: FastifyRequest): boolean {
  return method === 'GET' && searchOf(url) === '' && (headers.accept ?? '').includes('text/html');
}

/** Maximum number of operations in a batch. */
const MOST_OPERATIONS = 10;

/** The operations of a batch. Throws BAD_USER_INPUT or LIMIT_EXCEEDED if there is none or too many. */
function operationsIn(body: readonly unknown[]): readonly unknown[] {
  if (body.length === 0) throw badInput('body', body, `a JSON object, or a list of 1 to ${MOST_OPERATIONS}`);
  if (body.length <= MOST_OPERATIONS) return body;
  const advice = 'split it into several requests';
  throw limitExceeded('number of operations in the batch', body.length, MOST_OPERATIONS, advice);
}

/**
 * The answers to the operations of a batch, undefined for one that is refused. Each has a place of its own, once their
 * batch has left its place: batches that hold one while they wait for others would wait for each other.
 */
function answerEach(
  batch: Admitted,
  line: Line,
  answer: (one: Admitted) => Promise<GraphqlAnswer>,
): Promise<(GraphqlAnswer['body'] | undefined)[]> {
  const answers = operationsIn(batch.body as readonly unknown[]).map(async (body) => {
    const place = await line.enter(batch.gone);
    if (place === undefined) return undefined;
    try {
      return (await answer({ ...batch, body, waitedMs: batch.waitedMs + place.waitedMs })).body;
    } finally {
      place.leave();
    }
  });
  return Promise.all(answers);
}

/**
 * Serves `/graphql` by POST, one operation or a list of up to 10, and by GET for queries of this server's own pages or
 * with a header that pages of other sites cannot send.
 */
export function addGraphql(
  server: FastifyInstance,
  graphql: GraphqlServer,
  admit: Admit,
  admission: Admission,
  allowedOrigins: readonly string[],
): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    handler: async (request, reply) => {
      if (isVisit(request)) return reply.redirect('graphiql/');
      const { method, headers, url } = request;
      const forbidsWrites = isForeignPage(headers, allowedOrigins) ? foreignPage(headers) : undefined;
      // For Apollo Server, which does not know the browser's word for it.
      if (isOwnPage(headers)) headers['apollo-require-preflight'] = '1';
      const answerTo = ({ body, gone, waitedMs, address }: Admitted) =>
        graphql.answer({ method, headers, search: searchOf(url), body, forbidsWrites, address }, gone, waitedMs);
      const answer = await admit<GraphqlAnswer | Admitted>(request, reply, async (admitted) =>
        Array.isArray(admitted.body) ? admitted : answerTo(admitted),
      );
      if (answer === undefined) return reply;
      if ('gone' in answer) {
        reply.told = { operation: 'batch' };
        // One credential for all of them.
        await graphql.accessOf(credentialIn(headers));
        const answers = await answerEach(answer, admission[kindOf(request)], answerTo);
        const parts = answers.flatMap((each) => [',', each ?? refusalOf(headers)]);
        const list = ['[', ...parts.slice(1), ']'].map((part) => Buffer.from(part));
        return reply.type('application/json; charset=utf-8').send(Buffer.concat(list));
      }
      reply.told = answer.told;
      if (method === 'GET') void reply.header('cache-control', 'no-store');
      for (const [name, value] of answer.headers) {
        if (name === 'vary') varyBy(reply, ...value.split(', '));
        else void reply.header(name, value);
      }
      return reply.code(answer.status).send(answer.body);
    },
  });
  server.route({
    method: ['PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/graphql',
    handler: async (_request, reply) => reply.code(405).header('allow', 'GET, POST').send(),
  });
}
