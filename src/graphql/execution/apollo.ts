import { ApolloServer, HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError } from 'graphql';

import { CellportError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { RequestContext } from '../context.js';
import type { AnswerWriter } from './json-text.js';
import type { OperationResult, Pipeline } from './pipeline.js';

/** The HTTP status of a result: 200 unless `data` is missing altogether. */
function statusOf({ data, errors = [] }: OperationResult): number {
  if (data !== undefined) return 200;
  const codes = errors.map(({ extensions }) => extensions?.['code']);
  if (codes.includes('INTERNAL_SERVER_ERROR')) return 500;
  if (codes.includes('UNAUTHENTICATED')) return 401;
  return codes.includes('FORBIDDEN') ? 403 : 400;
}

/** An Apollo Server that is started, and takes from the pipeline what documents are and what operations answer. */
export async function startApollo(
  pipeline: Pipeline,
  writer: AnswerWriter,
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
        return {
          http: { headers: new HeaderMap(), status: statusOf(singleResult) },
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
      try {
        return `${await writer.stringify(result)}\n`;
      } catch (error) {
        if (!(error instanceof CellportError)) throw error;
        throw new GraphQLError(error.message, { originalError: error, extensions: { http: { status: 400 } } });
      }
    },
    logger: { debug: write(log.debug), info: write(log.info), warn: write(log.warn), error: write(log.error) },
    plugins: [
      plugin,
      // Cache control would wrap every field of every answer, for a header that this server does not send.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // Environment variables could turn both on: this server connects to nothing but DynamoDB.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
    ],
  });
  await apollo.start();
  return apollo;
}
