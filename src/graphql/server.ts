import { HeaderMap, type ApolloServer } from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';

import type { Access } from '../access/access.js';
import { credentialIn, type Credential } from '../access/credential.js';
import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { traceRequest } from '../tracing.js';
import { ask, type Asked, type Asker } from './ask.js';
import { createContext, type RequestContext, type Services } from './context.js';
import { formatted, statusOfCode } from './error-format.js';
import { startApollo, statusOf } from './execution/apollo.js';
import { compiling, type Executor } from './execution/executor.js';
import { hasHash } from './execution/persisted.js';
import {
  operationIn,
  Pipeline,
  type Failed,
  type OperationRequest,
  type OperationResult,
} from './execution/pipeline.js';
import { Subscriptions, type Caller, type Subscription } from './execution/subscriptions.js';
import { reportedBy, withExtensions } from './extensions.js';
import { buildSchema, type Extension } from './schema.js';
import { Work } from './work.js';

/** A request in the form that any HTTP server can provide. */
export interface GraphqlRequest {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The query string with its `?`, or an empty string. */
  readonly search: string;
  /** Whether it is a call of the program that has this server inside. */
  readonly isOwn?: boolean;
  /** The parsed JSON of its body. */
  readonly body: unknown;
  /** The error with which mutations of this request are refused; undefined if they are allowed. */
  readonly forbidsWrites?: CellportError | undefined;
  /** The address of the client. */
  readonly address?: string | undefined;
}

/** What logs and metrics say of an operation: no values. */
export interface Told {
  readonly operation?: string | undefined;
  /** The code of its first error. */
  readonly code?: string | undefined;
  /** The name of its principal. */
  readonly principal?: string | undefined;
  /** Omitted by the embedded database where nobody asks for the cost, and there are no budgets. */
  readonly readUnits?: number;
  readonly writeUnits?: number;
}

export interface GraphqlAnswer {
  readonly told?: Told;
  readonly status: number;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: string | Buffer;
}

/** The status, headers and errors of a request from someone who may not ask anything. */
function refusalOf(error: unknown): Pick<GraphqlAnswer, 'status' | 'headers'> & { readonly body: string } {
  if (!(error instanceof CellportError)) throw error;
  const status = statusOfCode(error.code);
  const challenge = status === 401 ? ([['www-authenticate', 'Bearer realm="cellport"']] as const) : [];
  return {
    status,
    headers: [['content-type', JSON_TYPE], ...challenge],
    body: JSON.stringify({ errors: [formatted(error)] }),
  };
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The operation of a request, unchecked. */
function operationOf({ method, body, search }: GraphqlRequest): OperationRequest {
  return method === 'GET' ? operationIn(Object.fromEntries(new URLSearchParams(search))) : (body ?? {});
}

/** Where Apollo Server is to find the document: it would look for a hash among its own. */
function withText({ method, body, search }: GraphqlRequest, query: string): Partial<GraphqlRequest> {
  if (method !== 'GET') return { body: { ...(body as object), query, extensions: null } };
  const parameters = new URLSearchParams(search);
  parameters.set('query', query);
  parameters.delete('extensions');
  return { search: `?${parameters.toString()}` };
}

function headerMap(headers: GraphqlRequest['headers']): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) map.set(name, typeof value === 'string' ? value : value.join(', '));
  }
  return map;
}

/** Answers operations over these services. */
export class GraphqlServer {
  readonly #services: Services;
  readonly #log: Log;
  readonly #pipeline: Pipeline;
  readonly #apollo: ApolloServer<RequestContext>;
  readonly subscriptions: Subscriptions;

  private constructor(services: Services, log: Log, pipeline: Pipeline, apollo: ApolloServer<RequestContext>) {
    this.#services = services;
    this.#log = log;
    this.#pipeline = pipeline;
    this.#apollo = apollo;
    this.subscriptions = new Subscriptions(services, pipeline);
  }

  /** Opens a server that is ready to answer. `executor` creates the executor of operations. Throws if the schema is invalid. */
  static async open(
    services: Services,
    log: Log,
    executor: (schema: GraphQLSchema) => Executor = compiling,
    extension?: Extension,
  ): Promise<GraphqlServer> {
    const schema = buildSchema(extension);
    const pipeline = new Pipeline(schema, executor(schema), services, log);
    return new GraphqlServer(services, log, pipeline, await startApollo(pipeline, services, log));
  }

  get schema(): GraphQLSchema {
    return this.#pipeline.schema;
  }

  /**
   * Answers one request within the deadline, of which `waitedMs` have passed already; never rejects. `gone` is aborted
   * when the client has disconnected.
   */
  async answer(request: GraphqlRequest, gone: AbortSignal, waitedMs = 0): Promise<GraphqlAnswer> {
    const { limits, db } = this.#services;
    const traced = traceRequest(request.headers);
    const work = new Work(limits, db, reportedBy(request.headers), waitedMs, traced);
    work.stopOn(gone);
    const overdue = work.overdue.then((error) => {
      this.#log.warn({ err: error }, 'A request did not stop at its deadline');
      return {
        status: 503,
        headers: [['content-type', JSON_TYPE]] as const,
        body: this.#extended(JSON.stringify({ errors: [formatted(error)] }), request, work),
      };
    });
    try {
      const answer = await Promise.race([this.#execute(request, work), overdue]);
      const { readUnits, writeUnits } = work.meter;
      const isPriced = !work.unpriced || (db.consumption !== undefined && !db.waitsForDisk);
      return { ...answer, told: { ...work.told, ...(isPriced && { readUnits, writeUnits }) } };
    } finally {
      work.end();
    }
  }

  /** Answers a question that is not in GraphQL: see `ask`. */
  ask<T>(asker: Asker, units: number, question: (context: RequestContext) => Promise<T>): Promise<Asked<T>> {
    return ask(this.#services, this.#log, asker, units, question);
  }

  /** What the sender of a credential may do; undefined for everything. Throws UNAUTHENTICATED, FORBIDDEN or UNAVAILABLE. */
  async accessOf(credential: Credential): Promise<Access | undefined> {
    return this.#services.authenticator?.access(credential);
  }

  /** THROTTLED for a request that need not be read: see `Budgets.floodOf`. */
  async floodOf(headers: GraphqlRequest['headers'], address: string): Promise<CellportError | undefined> {
    const { budgets, authenticator } = this.#services;
    if (!budgets || !authenticator) return undefined;
    let verified: (() => void) | undefined;
    try {
      const access = await authenticator.access(credentialIn(headers), () => {
        verified = budgets.admitStranger(address);
      });
      verified?.();
      return budgets.floodOf(access, address);
    } catch (error) {
      // Whatever else is wrong is told where the request is answered.
      return error instanceof CellportError && error.code === 'THROTTLED' ? error : undefined;
    }
  }

  /** See `Authenticator.hold`; without rules, nothing ends. */
  hold(credential: Credential, access: Access | undefined, end: (reason: CellportError) => void): () => void {
    return (access && this.#services.authenticator?.hold(credential, access, end)) ?? (() => undefined);
  }

  /** Starts an operation of a WebSocket or an event stream. */
  subscribe(request: OperationRequest, caller: Caller): Promise<Subscription | Failed> {
    return this.subscriptions.start(request, caller);
  }

  /** The JSON of the answer to an event of such an operation. */
  write(answer: OperationResult): Promise<string> {
    return this.#services.answerWriter.write(answer);
  }

  /** For the acknowledgement of a connection, see `LiveChanges`; undefined if this server does not follow changes. */
  async recent(): Promise<{ readonly changesFrom: string; readonly now: string } | undefined> {
    const { live, now, consumerStatus } = this.#services;
    const behindMs = () => {
      const status = consumerStatus();
      return status === undefined ? 0 : (status.behindMs ?? Infinity);
    };
    const from = await live?.recentFrom(behindMs);
    return from === undefined ? undefined : { changesFrom: new Date(from).toISOString(), now: now().toISOString() };
  }

  stop(): Promise<void> {
    return this.#apollo.stop();
  }

  async #execute(request: GraphqlRequest, work: Work): Promise<GraphqlAnswer> {
    const { method, search, body, forbidsWrites, address } = request;
    let access: Access | undefined;
    try {
      access = await this.accessOf(request.isOwn === true ? {} : credentialIn(request.headers));
      work.told.principal = access?.principal.name ?? undefined;
    } catch (error) {
      const answer = refusalOf(error);
      work.told.code = error instanceof CellportError ? error.code : undefined;
      return { ...answer, body: this.#extended(answer.body, request, work) };
    }
    let refused: readonly GraphQLFormattedError[] | undefined;
    const httpGraphQLRequest = { method, headers: headerMap(request.headers), search, body };
    const answer = await this.#apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest,
      // Called after the check for cross-site request forgery and before the document is needed.
      context: async () => {
        const operation = operationOf(request);
        const { text, errors } = (await this.#pipeline.find(operation, request.isOwn)) ?? {};
        refused = errors;
        if (errors) {
          work.told.code = String(errors[0]?.extensions?.['code']);
          if (access) this.#services.budgets?.noteInvalid(access, address ?? '');
          // Apollo Server chooses the content type for an answer with one error; there may be several.
          const http = { status: statusOf({ errors }) };
          throw new GraphQLError('the document is refused', { extensions: { code: 'BAD_REQUEST', http } });
        }
        const isAsSent = text === operation.query && !hasHash(operation);
        if (text !== undefined && !isAsSent) Object.assign(httpGraphQLRequest, withText(request, text));
        return { ...createContext(this.#services, work, access), address, ...(forbidsWrites && { forbidsWrites }) };
      },
    });
    if (answer.body.kind !== 'complete') throw new Error('incremental answers are not supported');
    const { status = 200 } = answer;
    const headers = [...answer.headers, ...(work.reservation?.headers ?? [])];
    const text = refused ? JSON.stringify({ errors: refused }) : answer.body.string;
    return { status, headers, body: this.#services.answerWriter.spliced(this.#extended(text, request, work, access)) };
  }

  #extended(body: string, { headers }: GraphqlRequest, call: Work, access?: Access): string {
    // What was read, and its cost, tell of markers that the rules hide.
    const isTold = this.#services.authenticator === undefined || access?.isAdmin === true;
    const budget = call.reservation?.cost;
    if (!isTold && budget === undefined) return body;
    return withExtensions(body, headers, { call, keys: this.#services.db.keys, budget, budgetOnly: !isTold });
  }
}
