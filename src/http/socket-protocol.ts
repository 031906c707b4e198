import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GraphQLError, type FormattedExecutionResult, type GraphQLFormattedError } from 'graphql';
import { CloseCode, makeServer, type Server } from 'graphql-ws';
import type { LimitFunction } from 'p-limit';

import type { Access } from '../access/access.js';
import { credentialIn, type Credential } from '../access/credential.js';
import { CellportError, limitExceeded } from '../errors.js';
import { formatted } from '../graphql/error-format.js';
import type { OperationResult } from '../graphql/execution/pipeline.js';
import { only } from '../graphql/execution/subscriptions.js';
import type { GraphqlServer } from '../graphql/server.js';
import type { Log } from '../log.js';
import type { Limits } from '../model/limits.js';
import type { Admission } from '../scheduling/admission.js';
import { OVERLOADED, SMALL_BYTES, type ClientLimits } from './admit.js';
import type { CheckHost } from './hosts.js';

export interface SubscriptionsOptions {
  readonly graphql: GraphqlServer;
  readonly admission: Admission;
  readonly checkHost: CheckHost;
  readonly clients: ClientLimits;
  readonly limits: Limits;
  /** See `HttpOptions`. */
  readonly allowedOrigins: readonly string[];
  /** Called with the status that tells why something is refused. */
  readonly onRefused: (status: number) => void;
  readonly log: Log;
}

/** Clients of graphql-ws connect and subscribe again after this code, each time after a longer pause. */
export const TRY_AGAIN_LATER = 1013;
/** The messages of all sockets whose operations wait or are answered take at most this many times the largest. */
const MOST_LARGE = 16;

const MARK_LENGTH = 36;
/** The end of a graphql-ws message whose payload is a mark. */
const BEFORE = '{"';
const AFTER = '":0}}';

/**
 * Answers sent through graphql-ws, which writes each message with one JSON.stringify. Each answer is serialized
 * beforehand, in pieces and up to a limit, and replaces a mark in the message.
 */
export class SocketAnswers {
  readonly #graphql: GraphqlServer;
  readonly #texts = new Map<string, string>();

  constructor(graphql: GraphqlServer) {
    this.#graphql = graphql;
  }

  /** Returns the payload that stands for an answer in graphql-ws. */
  async mark(answer: OperationResult): Promise<Readonly<Record<string, number>>> {
    const text = await this.#graphql.write(answer);
    const mark = randomUUID();
    this.#texts.set(mark, text);
    return { [mark]: 0 };
  }

  /** Replaces the mark in a message by its answer; returns other messages unchanged. */
  spliced(message: string): string {
    const from = message.length - AFTER.length - MARK_LENGTH;
    const mark = message.slice(from, from + MARK_LENGTH);
    const text = this.#texts.get(mark);
    if (text === undefined) return message;
    this.#texts.delete(mark);
    return `${message.slice(0, from - BEFORE.length)}${text}}`;
  }
}

/** An error that is sent as formatted. */
class FormattedError extends GraphQLError {
  readonly #formatted: GraphQLFormattedError;

  constructor(error: GraphQLFormattedError) {
    super(error.message);
    this.#formatted = error;
  }

  override toJSON(): GraphQLFormattedError {
    return this.#formatted;
  }
}

/** Clients that know this API connect again after the first code once they have another credential. */
const closeCode = ({ code }: CellportError) =>
  code === 'UNAUTHENTICATED' ? CloseCode.Unauthorized : code === 'FORBIDDEN' ? CloseCode.Forbidden : TRY_AGAIN_LATER;

/** The credential in `connection_init`, with names of any case, or that of the request: browsers cannot add headers to it. */
function credentialOf(params: Readonly<Record<string, unknown>> | undefined, headers: IncomingHttpHeaders): Credential {
  const given = { ...params, ...(params?.['headers'] as Readonly<Record<string, unknown>> | undefined) };
  const named = credentialIn(
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])),
  );
  return named.authorization === undefined && named.apiKey === undefined ? credentialIn(headers) : named;
}

/** What the protocol knows of a socket. */
export interface Connection {
  /** Aborted when it closes. */
  readonly gone: AbortSignal;
  /** Starts its subscriptions one after the other, so that each client waits in line once. */
  readonly starting: LimitFunction;
  /** Answers its queries and mutations, as many at a time as browsers send by HTTP. */
  readonly answering: LimitFunction;
  /** Whether the client reads what it is sent; disconnects it if it does not. */
  readonly isReading: () => boolean;
  /** The address of its client. */
  readonly address: string;
  /** The size of the message that has just been received. */
  bytes: number;
  readonly greeted: () => void;
  /** Headers of its request, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** What its client may do; undefined for everything. */
  access?: Access | undefined;
  readonly close: (code: number, reason: string) => void;
}

const refusedWith = (...errors: readonly GraphQLFormattedError[]) => errors.map((error) => new FormattedError(error));

/** Creates the graphql-ws protocol on top of a GraphQL server. */
export function createProtocol(
  { graphql, admission, limits, log, onRefused }: SubscriptionsOptions,
  answers: SocketAnswers,
): Server<Connection> {
  const max = limits.subscriptionsPerConnection;
  const tooMany = (count: number): CellportError =>
    limitExceeded('number of operations on this connection', count, max, 'open another');
  let heldBytes = 0;
  return makeServer<Record<string, unknown>, Connection>({
    // By this server's clock, which the client does not know.
    onConnect: async (context) => {
      const { extra, connectionParams } = context;
      extra.greeted();
      const credential = credentialOf(connectionParams, extra.headers);
      try {
        extra.access = await graphql.accessOf(credential);
      } catch (error) {
        if (!(error instanceof CellportError)) throw error;
        extra.close(closeCode(error), error.message);
        return false;
      }
      const release = graphql.hold(credential, extra.access, (reason) =>
        extra.close(closeCode(reason), reason.message),
      );
      extra.gone.addEventListener('abort', release);
      if (extra.gone.aborted) release();
      // Megabytes that graphql-ws would keep for each connection, and nothing reads.
      Object.assign(context, { connectionParams: undefined });
      return (await graphql.recent()) ?? true;
    },
    onSubscribe: async (connection, id, request) => {
      const { starting, answering, gone, close, isReading, bytes } = connection.extra;
      // Any word may be taken for that of the operation, see `kindOf`.
      const limiter = request.query.includes('subscription') ? starting : answering;
      // Stands for this operation: a client may complete it and use its ID again at once.
      const own = only({});
      connection.subscriptions[id] = own;
      const isWanted = () => connection.subscriptions[id] === own;
      const open = () => Object.keys(connection.subscriptions).length;
      // Those that the client has completed while they waited are still to be skipped.
      const count = Math.max(open(), limiter.pendingCount + 1);
      if (count > max) return refusedWith(formatted(tooMany(count)));
      const overloaded = () => {
        log.warn({}, OVERLOADED.message);
        onRefused(503);
        // The client retries by itself; not if it has others on this socket, which would end.
        if (open() === 1) close(TRY_AGAIN_LATER, OVERLOADED.message);
        return { errors: [formatted(OVERLOADED)] };
      };
      if (bytes > SMALL_BYTES && heldBytes + bytes > MOST_LARGE * limits.maxBodyBytes) {
        return refusedWith(...overloaded().errors);
      }
      heldBytes += bytes;
      const started = await limiter(async () => {
        const line = admission[request.query.includes('mutation') ? 'write' : 'read'];
        const place = isWanted() && isReading() ? await line.enter(gone) : undefined;
        try {
          if (!isWanted() || !isReading() || gone.aborted) return undefined;
          if (place === undefined) return overloaded();
          const { access, address } = connection.extra;
          return await graphql.subscribe(request, { waitedMs: place.waitedMs, gone, access, address });
        } finally {
          place?.leave();
          heldBytes -= bytes;
        }
      });
      if (isWanted() && started) {
        return 'errors' in started
          ? refusedWith(...started.errors)
          : { ...started.args, contextValue: started.answers };
      }
      if (started && 'answers' in started) await started.answers.return?.();
      // Never resolves: graphql-ws would send whatever this returns to the operation that now has the ID.
      return new Promise<never>(() => undefined);
    },
    subscribe: ({ contextValue }) => contextValue as AsyncIterableIterator<never>,
    execute: ({ contextValue }) => contextValue as AsyncIterableIterator<never>,
    // Errors in answers are already formatted.
    onNext: async (_context, _id, _payload, _args, answer) =>
      (await answers.mark(answer as OperationResult)) as FormattedExecutionResult,
  });
}
