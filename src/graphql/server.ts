import { ApolloServer, type ApolloServerOptionsWithGateway, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';

import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { spliced, stringify } from './json-text.js';
import { checkAnswerSize } from './answer-size.js';
import { type RequestContext, type Services, createContext } from './context.js';
import { errorFormatter, formatted } from './error-format.js';
import { schemaRules } from './introspection.js';
import { type Executor, compiling } from './executor.js';
import { asksForCost, asksForReads, withExtensions } from './extensions.js';
import type { Limits } from '../model/limits.js';
import { documentChecker, refusing } from './refusal.js';
import { buildSchema } from './schema.js';
import { type Subscribe, createSubscribe } from './subscriptions.js';
import { type Work, startWork } from './work.js';

/** A request as any HTTP server may hand it over. */
export interface GraphqlRequest {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The URL from its `?` on, or an empty text. */
  readonly search: string;
  /** The parsed JSON of its body. */
  readonly body: unknown;
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: string | Buffer;
}

export interface GraphqlServer {
  /** Answers one request, within the deadline whatever happens; `gone` says that nobody waits for it any more. */
  readonly answer: (request: GraphqlRequest, gone: AbortSignal) => Promise<GraphqlAnswer>;
  /** Begins a subscription, whatever it is then sent over. */
  readonly subscribe: Subscribe;
  /** See `LiveChanges`; undefined where this server hears of no changes. */
  readonly recentFrom: () => Promise<number | undefined>;
  readonly stop: () => Promise<void>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

function refuseSubscription(): never {
  throw new CellportError(
    'BAD_USER_INPUT',
    'a subscription needs a WebSocket at /graphql (graphql-ws) or server-sent events from /graphql/stream',
    { field: 'query' },
  );
}

/** What happens between validation and execution. */
function operationPlugin(schema: GraphQLSchema, limits: Limits): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request, contextValue }) {
          // None where the request names an operation that is not there: the executor says so.
          if (operation === undefined) return;
          if (operation.operation === 'subscription') refusing(refuseSubscription);
          refusing(() => checkAnswerSize(schema, document, operation, request.variables ?? {}, limits));
          if (operation.operation === 'mutation') contextValue.work.startWriting();
        },
      };
    },
  };
}

/** The text of a request's document, if it has one that is a text. */
function sourceOf({ method, body, search }: GraphqlRequest): string | undefined {
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

/** The door by which Apollo Server lets somebody else execute: it is named after what it was made for. */
function executedBy(
  schema: GraphQLSchema,
  execute: Executor,
): ApolloServerOptionsWithGateway<RequestContext>['gateway'] {
  return {
    load: async () => ({
      executor: async ({ document, operation, request, context }) =>
        execute({
          document,
          operation,
          operationName: request.operationName,
          variables: request.variables ?? {},
          context: context as RequestContext,
        }),
    }),
    onSchemaLoadOrUpdate: (loaded) => {
      loaded({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    stop: async () => undefined,
  };
}

/** A GraphQL server over these services, ready to answer. `executor` makes what runs its operations. */
export async function createGraphqlServer(
  services: Services,
  log: Log,
  executor: (schema: GraphQLSchema) => Executor = compiling,
): Promise<GraphqlServer> {
  const { limits, introspection = true } = services;
  const schema = buildSchema();
  const checkLimits = documentChecker(limits);
  const extended = (body: string, { headers }: GraphqlRequest, call: Work) =>
    withExtensions(body, headers, { call, keys: services.db.keys });
  const say = (write: Log['info']) => (message?: unknown) => write({}, String(message));
  const apollo = new ApolloServer<RequestContext>({
    gateway: executedBy(schema, executor(schema)),
    // Said here rather than left to NODE_ENV: GraphiQL needs introspection wherever the server runs. Where it is off, a
    // rule of graphql-js refuses it, the same as for subscriptions.
    introspection: true,
    validationRules: [...schemaRules(introspection)],
    hideSchemaDetailsFromClientErrors: !introspection,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    csrfPrevention: true,
    parseOptions: { maxTokens: limits.maxTokens },
    formatError: errorFormatter(log),
    stringifyResult: (result) => `${stringify(result)}\n`,
    logger: { debug: say(log.debug), info: say(log.info), warn: say(log.warn), error: say(log.error) },
    plugins: [
      operationPlugin(schema, limits),
      // Cache control wraps every field of every answer, for a header that nobody here sets.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // Both are switched on by variables of the environment: this server speaks to DynamoDB alone.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
    ],
  });
  await apollo.start();

  async function execute(request: GraphqlRequest, work: Work): Promise<GraphqlAnswer> {
    const {
      status = 200,
      headers,
      body,
    } = await apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        method: request.method,
        headers: headerMap(request.headers),
        search: request.search,
        body: request.body,
      },
      // Called after the check against forged requests and before the document is looked at.
      context: async () => {
        const source = sourceOf(request);
        if (source !== undefined) checkLimits(source);
        return createContext(services, work);
      },
    });
    if (body.kind !== 'complete') throw new Error('an answer in parts, which nothing in the schema asks for');
    return { status, headers, body: spliced(extended(body.string, request, work)) };
  }

  async function answer(request: GraphqlRequest, gone: AbortSignal): Promise<GraphqlAnswer> {
    const work = startWork(limits.deadlineMs, {
      cost: asksForCost(request.headers),
      reads: asksForReads(request.headers),
    });
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
    subscribe: createSubscribe({ services, schema, checkLimits, log }),
    recentFrom: async () => services.live?.recentFrom(),
    stop: () => apollo.stop(),
  };
}
