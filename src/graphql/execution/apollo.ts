import { ApolloServer, HeaderMap, type ApolloServerPlugin, type HTTPGraphQLRequest } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError } from 'graphql';

import { ifRefused, type CellportError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { RequestContext, Services } from '../context.js';
import type { OperationResult, Pipeline } from './pipeline.js';

/** The HTTP status of a result: 200 unless `data` is missing altogether. */
export function statusOf({ data, errors = [] }: OperationResult): number {
  if (data !== undefined) return 200;
  const codes = errors.map(({ extensions }) => extensions?.['code']);
  if (codes.includes('INTERNAL_SERVER_ERROR')) return 500;
  if (codes.includes('UNAUTHENTICATED')) return 401;
  // As Apollo Server answers it: no failure, but a question.
  if (codes.includes('PERSISTED_QUERY_NOT_FOUND')) return 200;
  if (codes.includes('THROTTLED')) return 429;
  return codes.includes('FORBIDDEN') ? 403 : 400;
}

/** Headers on which an answer may depend, besides those of content negotiation: credentials, and what it is to explain. */
const ANSWERED_BY = ['authorization', 'x-api-key', 'x-cellport-cost', 'x-cellport-explain'];

/** The headers that let caches keep an answer: of a query by GET that anybody could have sent, and that has no error. */
function cacheHeaders(
  request: HTTPGraphQLRequest | undefined,
  { errors }: OperationResult,
  seconds: number,
): HeaderMap {
  if (seconds === 0 || request?.method !== 'GET') return new HeaderMap();
  const headers = new HeaderMap([['vary', ['accept', ...ANSWERED_BY].join(', ')]]);
  const isForAnyone = errors === undefined && !ANSWERED_BY.some((name) => request.headers.has(name));
  return isForAnyone ? headers.set('cache-control', `public, max-age=${seconds}`) : headers;
}

/** An Apollo Server that is started, and takes from the pipeline what documents are and what operations answer. */
export async function startApollo(
  pipeline: Pipeline,
  { answerWriter: writer, cacheSeconds = 0 }: Pick<Services, 'answerWriter' | 'cacheSeconds'>,
  log: Log,
): Promise<ApolloServer<RequestContext>> {
  const plugin: ApolloServerPlugin<RequestContext> = {
    requestDidStart: async () => ({
      async didResolveSource(context) {
        // Apollo Server would parse and validate the document again.
        Object.assign(context, { document: pipeline.read(context.source).document });
      },
      async responseForOperation({ document, operation, request, contextValue: context }) {
        const { operationName, variables = {} } = request;
        // Undefined if no operation has this name, although Apollo Server's type says otherwise.
        const singleResult = await pipeline.answer({ document, operation, operationName, variables, context });
        Object.assign(context.work.told, {
          operation: operation?.name?.value,
          code: singleResult.errors?.[0]?.extensions?.['code'],
        });
        const headers = cacheHeaders(request.http, singleResult, cacheSeconds);
        return {
          http: { headers, status: statusOf(singleResult) },
          body: { kind: 'single', singleResult },
        };
      },
    }),
  };
  const write = (level: Log['info']) => (message?: unknown) => level({}, String(message));
  const apollo = new ApolloServer<RequestContext>({
    schema: pipeline.schema,
    // Set here because Apollo Server's default depends on NODE_ENV. Documents are validated by `read`.
    introspection: true,
    documentStore: null,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    csrfPrevention: true,
    formatError: (_formatted, error) => pipeline.format(error),
    async stringifyResult(result) {
      const refuse = (error: CellportError) =>
        new GraphQLError(error.message, { originalError: error, extensions: { http: { status: 400 } } });
      return `${await writer.stringify(result).catch(ifRefused((error) => Promise.reject(refuse(error))))}\n`;
    },
    logger: { debug: write(log.debug), info: write(log.info), warn: write(log.warn), error: write(log.error) },
    plugins: [
      plugin,
      // Cache control would wrap every field of every answer, for a header that here has one value.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // It would trace every field of a subgraph.
      ApolloServerPluginInlineTraceDisabled(),
      // Environment variables could turn both on: this server connects to nothing but DynamoDB.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
    ],
  });
  await apollo.start();
  return apollo;
}
