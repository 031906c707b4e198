import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  createSourceEventStream,
  execute,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
} from 'graphql';

import { CellportError, badInput, limitExceeded } from '../errors.js';
import type { Log } from '../log.js';
import { checkAnswerSize } from './answer-size.js';
import { type Services, createContext } from './context.js';
import { errorFormatter, formatted } from './error-format.js';
import { schemaRules, withoutSuggestions } from './introspection.js';
import type { Limits } from '../model/limits.js';
import { startWork } from './work.js';

/** What a client sends to subscribe; none of it has been looked at. */
export interface SubscriptionRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
  readonly variables?: unknown;
}

/** One answer of a subscription, its errors as clients are told of them. */
export interface SubscriptionAnswer {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[];
}

/**
 * Begins a subscription: answers to come, or the errors for which there are none. The answers end when the reader
 * returns, or with one that has nothing but the error they ended with.
 */
export type Subscribe = (
  request: SubscriptionRequest,
) => Promise<AsyncIterableIterator<SubscriptionAnswer> | { readonly errors: readonly GraphQLFormattedError[] }>;

export interface SubscribeOptions {
  readonly services: Services;
  readonly schema: GraphQLSchema;
  /** Throws where a document is over the limits. */
  readonly checkLimits: (source: string) => void;
  readonly log: Log;
}

/** A document that may run, with what it takes. */
interface Prepared {
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variableValues: Readonly<Record<string, unknown>>;
}

/** Errors of validation, all of them. */
class Invalid extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('the document is not valid');
    this.errors = errors;
  }
}

const coded = ({ message, source, positions, originalError }: GraphQLError, code: string) =>
  new GraphQLError(message, { source, positions, originalError, extensions: { code } });

function parsed(query: string, { maxTokens }: Limits): DocumentNode {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? coded(error, 'GRAPHQL_PARSE_FAILED') : error;
  }
}

/** Checks a request as it is checked over HTTP. Throws what is wrong with it. */
function prepare(
  { query, operationName = null, variables }: SubscriptionRequest,
  { services: { limits, introspection = true }, schema, checkLimits }: SubscribeOptions,
): Prepared {
  if (typeof query !== 'string') throw badInput('query', query, 'the text of a GraphQL document');
  if (operationName !== null && typeof operationName !== 'string') {
    throw badInput('operationName', operationName, 'a text');
  }
  const variableValues = variables ?? {};
  if (typeof variableValues !== 'object' || Array.isArray(variableValues)) {
    throw badInput('variables', variables, 'a JSON object');
  }
  checkLimits(query);
  const document = parsed(query, limits);
  const errors = validate(schema, document, [...specifiedRules, ...schemaRules(introspection)]);
  const told = introspection ? errors : errors.map(withoutSuggestions);
  if (told.length > 0) throw new Invalid(told.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED')));
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== 'subscription') {
    throw badInput(
      'query',
      operation?.operation ?? 'no operation',
      'a subscription: send all else to /graphql by POST',
    );
  }
  checkAnswerSize(schema, document, operation, variableValues as Record<string, unknown>, limits);
  return { document, operationName, variableValues: variableValues as Record<string, unknown> };
}

const isStream = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

/** What begins subscriptions to these services: on graphql-js itself, under the limits of all requests. */
export function createSubscribe(options: SubscribeOptions): Subscribe {
  const { services, schema, log } = options;
  const { limits } = services;
  const format = errorFormatter(log);
  let active = 0;

  function told(error: unknown): GraphQLFormattedError {
    const wrapped = error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error });
    const { extensions, ...rest } = wrapped.toJSON();
    // Without a path it speaks of the request: of a variable, that is.
    const request = wrapped.path === undefined && wrapped.originalError === undefined;
    const code = extensions?.['code'] ?? (request ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR');
    return format({ ...rest, extensions: { ...extensions, code } }, error);
  }

  /** Answers one event, in a context of its own: what was read for the last one may have changed. */
  async function answer(prepared: Prepared, event: unknown): Promise<SubscriptionAnswer> {
    const work = startWork(limits.deadlineMs);
    try {
      const contextValue = createContext(services, work);
      const late = work.overdue.then((error) => ({
        data: null,
        errors: [new GraphQLError('', { originalError: error })],
      }));
      const run = execute({ schema, ...prepared, rootValue: event, contextValue });
      const { data, errors } = await Promise.race([run, late]);
      return { data, ...(errors === undefined ? {} : { errors: errors.map(told) }) };
    } finally {
      work.end();
    }
  }

  function answers(prepared: Prepared, events: AsyncIterator<unknown>, onEnd: () => void) {
    let ended = false;
    const end = () => {
      if (!ended) onEnd();
      ended = true;
    };
    // No generator: that could not be told to return while it waits for an event.
    const iterator: AsyncIterableIterator<SubscriptionAnswer> = {
      [Symbol.asyncIterator]: () => iterator,
      async next() {
        if (ended) return { done: true, value: undefined };
        try {
          const { done, value } = await events.next();
          if (done !== true) return { done: false, value: await answer(prepared, value) };
          end();
          return { done: true, value: undefined };
        } catch (error) {
          end();
          // Why it ended was decided elsewhere, and is no news to the log for each of a thousand clients.
          return { done: false, value: { errors: [error instanceof CellportError ? formatted(error) : told(error)] } };
        }
      },
      async return() {
        end();
        await events.return?.();
        return { done: true, value: undefined };
      },
    };
    return iterator;
  }

  async function begin(request: SubscriptionRequest, onEnd: () => void): ReturnType<Subscribe> {
    const work = startWork(limits.deadlineMs);
    try {
      const prepared = prepare(request, options);
      const stream = await createSourceEventStream({
        schema,
        ...prepared,
        contextValue: createContext(services, work),
      });
      if (isStream(stream)) return answers(prepared, stream[Symbol.asyncIterator](), onEnd);
      onEnd();
      return { errors: (stream.errors ?? []).map(told) };
    } catch (error) {
      onEnd();
      return { errors: error instanceof Invalid ? error.errors.map(told) : [told(error)] };
    } finally {
      work.end();
    }
  }

  return async (request) => {
    if (active >= limits.subscriptions) {
      const advice = 'try again later, or another server';
      return {
        errors: [told(limitExceeded('subscriptions of this server', active + 1, limits.subscriptions, advice))],
      };
    }
    active += 1;
    return begin(request, () => {
      active -= 1;
    });
  };
}
