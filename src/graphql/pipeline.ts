import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { type GraphQLFormattedError, type GraphQLSchema, NoSchemaIntrospectionCustomRule } from 'graphql';

import { CellportError, badInput } from '../errors.js';
import type { Log } from '../log.js';
import { stringify } from './json-text.js';
import { checkAnswerSize } from './answer-size.js';
import type { RequestContext } from './context.js';
import { documentChecker } from './document-limits.js';
import { type FormatError, asBadRequest, errorFormatter } from './error-format.js';
import type { Execution, Executor } from './executor.js';
import type { Limits } from '../model/limits.js';

/** What a client sends to start a subscription, unchecked. */
export interface SubscriptionRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
  readonly variables?: unknown;
}

export interface Failed {
  readonly errors: readonly GraphQLFormattedError[];
}

/** The result of an operation, its errors in the form that clients see. */
export interface OperationResult extends Partial<Failed> {
  readonly data?: Readonly<Record<string, unknown>> | null;
}

/**
 * The steps of every operation over any transport: `prepare` checks the limits, parses, validates and applies
 * the policy on introspection; `execute` runs it. `apollo` does both for an HTTP request.
 */
export interface Pipeline {
  readonly apollo: ApolloServer<RequestContext>;
  /** Throws LIMIT_EXCEEDED, as a 400 of HTTP, if a document exceeds the limits; to be called before Apollo Server parses it. */
  readonly checkDocument: (source: string) => void;
  /** A subscription that is ready to be executed, or what is wrong with it. */
  readonly prepare: (request: SubscriptionRequest, context: RequestContext) => Promise<Execution | Failed>;
  readonly execute: (execution: Execution) => Promise<OperationResult>;
  readonly format: FormatError;
}

export interface PipelineOptions {
  readonly schema: GraphQLSchema;
  readonly executor: Executor;
  readonly limits: Limits;
  readonly introspection: boolean;
  readonly log: Log;
}

function transportError(operation: 'query' | 'mutation' | 'subscription'): CellportError {
  return operation === 'subscription'
    ? new CellportError(
        'BAD_USER_INPUT',
        'subscriptions need a WebSocket at /graphql (graphql-ws) or server-sent events from /graphql/stream',
        { field: 'query' },
      )
    : badInput('query', operation, 'a subscription; send queries and mutations to /graphql by POST');
}

const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null;

/** The fields of a request with their types. Throws BAD_USER_INPUT naming the field that is wrong. */
function readRequest({ query, operationName, variables }: SubscriptionRequest) {
  if (typeof query !== 'string') throw badInput('query', query, 'the text of a GraphQL document');
  if (!isNothing(operationName) && typeof operationName !== 'string') {
    throw badInput('operationName', operationName, 'a string');
  }
  if (!isNothing(variables) && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw badInput('variables', variables, 'a JSON object');
  }
  return { query, variables: { ...variables }, ...(isNothing(operationName) ? {} : { operationName }) };
}

/** The HTTP status of a result: 400 or 500 only if it has no data, not even null. */
function statusOf({ data, errors = [] }: OperationResult): number {
  if (data !== undefined) return 200;
  return errors.some(({ extensions }) => extensions?.['code'] === 'INTERNAL_SERVER_ERROR') ? 500 : 400;
}

/** The pipeline over a schema, on an Apollo Server that is started. */
export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { schema, executor, limits, introspection, log } = options;
  const format = errorFormatter(log);
  const check = documentChecker(limits);
  const checkDocument = (source: string) => asBadRequest(() => check(source));

  async function execute(execution: Execution): Promise<OperationResult> {
    try {
      const { data, errors } = await executor(execution);
      return { ...(data === undefined ? {} : { data }), ...(errors && { errors: errors.map(format) }) };
    } catch (error) {
      return { errors: [format(error)] };
    }
  }

  const plugin: ApolloServerPlugin<RequestContext> = {
    requestDidStart: async () => ({
      async didResolveOperation({ document, operation, request: { http, variables = {} }, contextValue }) {
        // Undefined if no operation has the name that the request gives; the executor reports that.
        if (operation === undefined) return;
        asBadRequest(() => {
          if ((operation.operation === 'subscription') === (http !== undefined)) {
            throw transportError(operation.operation);
          }
          if (operation.operation === 'mutation' && contextValue.forbidsWrites) throw contextValue.forbidsWrites;
          checkAnswerSize({ schema, document, operation, variables, limits });
        });
        if (operation.operation === 'mutation') contextValue.work.startWriting();
      },
      async responseForOperation({ document, operation, request, contextValue: context }) {
        const { http, operationName, variables = {} } = request;
        const execution: Execution = { document, operation, operationName, variables, context };
        // A subscription does not come over HTTP, and is executed for each of its events.
        const singleResult = http === undefined ? { data: { execution } } : await execute(execution);
        return {
          http: { headers: new HeaderMap(), status: statusOf(singleResult) },
          body: { kind: 'single', singleResult },
        };
      },
    }),
  };
  const write = (level: Log['info']) => (message?: unknown) => level({}, String(message));
  const apollo = new ApolloServer<RequestContext>({
    schema,
    // Set here because Apollo Server's default depends on NODE_ENV. If it is off, a rule of graphql-js rejects introspection.
    introspection: true,
    validationRules: introspection ? [] : [NoSchemaIntrospectionCustomRule],
    hideSchemaDetailsFromClientErrors: !introspection,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    csrfPrevention: true,
    parseOptions: { maxTokens: limits.maxTokens },
    formatError: (_formatted, error) => format(error),
    stringifyResult: (result) => `${stringify(result)}\n`,
    logger: { debug: write(log.debug), info: write(log.info), warn: write(log.warn), error: write(log.error) },
    plugins: [
      plugin,
      // Cache control wraps every field of every answer, for a header that this server does not set.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // Environment variables can turn both on: this server connects to nothing but DynamoDB.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
    ],
  });
  await apollo.start();

  return {
    apollo,
    checkDocument,
    async prepare(request, contextValue) {
      try {
        const operation = readRequest(request);
        checkDocument(operation.query);
        const { body } = await apollo.executeOperation<{ execution: Execution }>(operation, { contextValue });
        if (body.kind !== 'single') throw new Error('incremental answers are not supported');
        const { data, errors = [] } = body.singleResult;
        return data?.execution ?? { errors };
      } catch (error) {
        return { errors: [format(error)] };
      }
    },
    execute,
    format,
  };
}
