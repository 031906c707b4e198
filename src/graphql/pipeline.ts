import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema, getOperationAST } from 'graphql';

import { CellportError, badInput, limitExceeded } from '../errors.js';
import type { Log } from '../log.js';
import { stringify } from './json-text.js';
import { checkAnswerSize } from './answer-size.js';
import type { RequestContext } from './context.js';
import { type Verdict, documentReader } from './documents.js';
import { type FormatError, errorFormatter } from './error-format.js';
import type { Execution, Executor } from './executor.js';
import type { Limits } from '../model/limits.js';
import { variableErrors } from './variables.js';

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
 * The steps of every operation over any transport: `read` checks the limits of a document, parses and validates it;
 * `prepare` does that for a subscription and checks the rest of the request; `execute` runs it. `apollo` does all of them
 * for an HTTP request whose document has been read.
 */
export interface Pipeline {
  readonly apollo: ApolloServer<RequestContext>;
  readonly read: (document: string) => Verdict;
  /** A subscription that is ready to be executed, or what is wrong with it. */
  readonly prepare: (request: SubscriptionRequest, context: RequestContext) => Execution | Failed;
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

/** Requests have one answer; streams have one for each event of a subscription. */
type Transport = 'request' | 'stream';

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
  return { query, variables: { ...variables }, operationName: operationName ?? undefined };
}

/** Errors in one answer; a long list may have one for each item. */
const MAX_ERRORS = 100;

/** The errors of an answer as clients see them; the last one says how many are left out. */
function listed(errors: readonly unknown[], format: FormatError): readonly GraphQLFormattedError[] {
  const more = errors.length - MAX_ERRORS;
  const shown = errors.slice(0, MAX_ERRORS).map(format);
  if (more <= 0) return shown;
  const left = limitExceeded('number of errors', errors.length, MAX_ERRORS, `${more} more are left out`);
  return [...shown, format(left)];
}

/** The HTTP status of a result: other than 200 only if it has no data, not even null. */
function statusOf({ data, errors = [] }: OperationResult): number {
  if (data !== undefined) return 200;
  const codes = errors.map(({ extensions }) => extensions?.['code']);
  if (codes.includes('INTERNAL_SERVER_ERROR')) return 500;
  return codes.includes('FORBIDDEN') ? 403 : 400;
}

/** The pipeline over a schema, on an Apollo Server that is started. */
export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { schema, executor, limits, introspection, log } = options;
  const format = errorFormatter(log);
  const read = documentReader({ schema, limits, introspection, format });

  /** What is wrong with an operation of a valid document, apart from what only executing it shows. */
  function faults({ document, operation, variables, context }: Execution, transport: Transport): readonly unknown[] {
    // graphql-js reports that no operation has the name that the request gives.
    if (operation === undefined) return [];
    if ((operation.operation === 'subscription') !== (transport === 'stream')) {
      return [transportError(operation.operation)];
    }
    if (operation.operation === 'mutation' && context.forbidsWrites) return [context.forbidsWrites];
    const errors = variableErrors(schema, operation, variables, { hideSuggestions: !introspection });
    if (errors.length > 0) return errors;
    try {
      checkAnswerSize({ schema, document, operation, variables, limits });
      return [];
    } catch (error) {
      return [error];
    }
  }

  async function execute(execution: Execution): Promise<OperationResult> {
    try {
      const { data, errors } = await executor(execution);
      const refusal = execution.context.work.refusal();
      if (refusal) return { errors: [format(refusal)] };
      return { ...(data === undefined ? {} : { data }), ...(errors && { errors: listed(errors, format) }) };
    } catch (error) {
      return { errors: [format(error)] };
    }
  }

  async function answer(execution: Execution): Promise<OperationResult> {
    const found = faults(execution, 'request');
    if (found.length > 0) return { errors: found.map(format) };
    if (execution.operation?.operation === 'mutation') execution.context.work.startWriting();
    return execute(execution);
  }

  const plugin: ApolloServerPlugin<RequestContext> = {
    requestDidStart: async () => ({
      async didResolveSource(context) {
        // Apollo Server would parse and validate it once more.
        Object.assign(context, { document: read(context.source).document });
      },
      async responseForOperation({ document, operation, request, contextValue: context }) {
        const { operationName, variables = {} } = request;
        // Undefined if no operation has this name, whatever Apollo Server's type says.
        const singleResult = await answer({ document, operation, operationName, variables, context });
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
    // Set here because Apollo Server's default depends on NODE_ENV. Documents are validated by `read`.
    introspection: true,
    documentStore: null,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    csrfPrevention: true,
    formatError: (_formatted, error) => format(error),
    async stringifyResult(result) {
      try {
        return `${await stringify(result, limits.maxAnswerBytes)}\n`;
      } catch (error) {
        if (!(error instanceof CellportError)) throw error;
        throw new GraphQLError(error.message, { originalError: error, extensions: { http: { status: 400 } } });
      }
    },
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
    read,
    prepare(request, context) {
      try {
        const { query, variables, operationName } = readRequest(request);
        const { document, errors } = read(query);
        if (errors) return { errors };
        const operation = getOperationAST(document, operationName) ?? undefined;
        const execution = { document, operation, operationName, variables, context };
        const found = faults(execution, 'stream');
        return found.length > 0 ? { errors: found.map(format) } : execution;
      } catch (error) {
        return { errors: [format(error)] };
      }
    },
    execute,
    format,
  };
}
