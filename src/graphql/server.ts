import { HeaderMap } from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';

import type { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { spliced } from './execution/json-text.js';
import { type Services, createContext } from './context.js';
import { formatted } from './error-format.js';
import { type Executor, compiling } from './execution/executor.js';
import { asksForCost, asksForReads, withExtensions } from './extensions.js';
import { createPipeline } from './execution/pipeline.js';
import { buildSchema } from './schema.js';
import { type Subscribe, createSubscribe } from './execution/subscriptions.js';
import { type Work, startWork } from './work.js';

/** A request in the form that any HTTP server can provide. */
export interface GraphqlRequest {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The query string with its `?`, or an empty string. */
  readonly search: string;
  /** The parsed JSON of its body. */
  readonly body: unknown;
  /** The error with which mutations of this request are refused; undefined if they are allowed. */
  readonly forbidsWrites?: CellportError | undefined;
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: string | Buffer;
}

export interface GraphqlServer {
  /**
   * Answers one request within the deadline, of which `waitedMs` have passed already; never rejects. `gone` is aborted
   * when the client has disconnected.
   */
  readonly answer: (request: GraphqlRequest, gone: AbortSignal, waitedMs?: number) => Promise<GraphqlAnswer>;
  /** Starts an operation of a WebSocket or an event stream. */
  readonly subscribe: Subscribe;
  /** For the acknowledgement of a connection, see `LiveChanges`; undefined if this server does not follow changes. */
  readonly recent: () => Promise<{ readonly changesFrom: string; readonly now: string } | undefined>;
  readonly stop: () => Promise<void>;
}

/** Apollo Server answers an error with these extensions with this status. */
const BAD_REQUEST = { code: 'BAD_REQUEST', http: { status: 400 } };
const JSON_TYPE = 'application/json; charset=utf-8';

/** The document of a request, if it is a string. */
function sourceOf({ method, body, search }: Pick<GraphqlRequest, 'method' | 'body' | 'search'>): string | undefined {
  if (method === 'GET') return new URLSearchParams(search).get('query') ?? undefined;
  const query = typeof body === 'object' && body !== null && 'query' in body ? body.query : undefined;
  return typeof query === 'string' ? query : undefined;
}

function headerMap(headers: GraphqlRequest['headers']): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return map;
}

/** Creates a GraphQL server over these services, ready to answer. `executor` creates the executor of operations. */
export async function createGraphqlServer(
  services: Services,
  log: Log,
  executor: (schema: GraphQLSchema) => Executor = compiling,
): Promise<GraphqlServer> {
  const { limits, introspection = true } = services;
  const schema = buildSchema();
  const pipeline = await createPipeline({ schema, executor: executor(schema), limits, introspection, log });
  const extended = (body: string, { headers }: GraphqlRequest, call: Work) =>
    withExtensions(body, headers, { call, keys: services.db.keys });

  async function execute(request: GraphqlRequest, work: Work): Promise<GraphqlAnswer> {
    const { method, search, body, forbidsWrites } = request;
    let refused: readonly GraphQLFormattedError[] | undefined;
    const answer = await pipeline.apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method, headers: headerMap(request.headers), search, body },
      // Called after the check for cross-site request forgery and before the document is needed.
      context: async () => {
        const source = sourceOf(request);
        refused = source === undefined ? undefined : pipeline.read(source).errors;
        // Apollo Server chooses the content type for an answer with one error; there may be several.
        if (refused) throw new GraphQLError('the document is invalid', { extensions: BAD_REQUEST });
        return { ...createContext(services, work), ...(forbidsWrites && { forbidsWrites }) };
      },
    });
    if (answer.body.kind !== 'complete') throw new Error('incremental answers are not supported');
    const { status = 200, headers } = answer;
    const text = refused ? JSON.stringify({ errors: refused }) : answer.body.string;
    return { status, headers, body: spliced(extended(text, request, work)) };
  }

  async function answer(request: GraphqlRequest, gone: AbortSignal, waitedMs = 0): Promise<GraphqlAnswer> {
    const reported = { cost: asksForCost(request.headers), reads: asksForReads(request.headers) };
    const work = startWork(limits, reported, waitedMs);
    gone.addEventListener('abort', work.abandon);
    if (gone.aborted) work.abandon();
    const overdue = work.overdue.then((error) => {
      log.warn({ err: error }, 'A request did not stop at its deadline');
      return {
        status: 503,
        headers: [['content-type', JSON_TYPE]] as const,
        body: extended(JSON.stringify({ errors: [formatted(error)] }), request, work),
      };
    });
    try {
      return await Promise.race([execute(request, work), overdue]);
    } finally {
      work.end();
      gone.removeEventListener('abort', work.abandon);
    }
  }

  return {
    answer,
    subscribe: createSubscribe(services, schema, pipeline),
    async recent() {
      const from = await services.live?.recentFrom();
      return from === undefined
        ? undefined
        : { changesFrom: new Date(from).toISOString(), now: services.now().toISOString() };
    },
    stop: () => pipeline.apollo.stop(),
  };
}
