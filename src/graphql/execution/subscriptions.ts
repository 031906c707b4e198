import { createSourceEventStream, type DocumentNode, type ExecutionArgs } from 'graphql';

import type { Access } from '../../access/access.js';
import { CellportError, limitExceeded } from '../../errors.js';
import { bytesOfValue } from '../../model/memory.js';
import { traceRequest } from '../../tracing.js';
import { createContext, type Services } from '../context.js';
import { formatted, type FormatError } from '../error-format.js';
import { documentBytes } from '../limits/document-limits.js';
import { Work } from '../work.js';
import type { Execution } from './executor.js';
import type { Failed, OperationRequest, OperationResult, Pipeline } from './pipeline.js';
import { withinBudget } from './within-budget.js';

/** Memory for the requests of all subscriptions of a server, with their documents. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The requests that subscriptions keep in memory for as long as they last. */
export class HeldRequests {
  /** The number of subscriptions with each document. */
  readonly #users = new Map<DocumentNode, number>();
  #bytes = 0;

  /** Adds a request; returns the function that removes it, to be called once. Throws LIMIT_EXCEEDED. */
  hold(document: DocumentNode, request: object): () => void {
    const own = bytesOfValue(request);
    const shared = documentBytes(document);
    const users = this.#users.get(document) ?? 0;
    const bytes = this.#bytes + own + (users > 0 ? 0 : shared);
    if (bytes > MOST_BYTES) {
      const advice = 'use one short document with variables for all subscriptions, or another server';
      throw limitExceeded('bytes of the subscriptions on this server', bytes, MOST_BYTES, advice);
    }
    this.#users.set(document, users + 1);
    this.#bytes = bytes;
    return () => {
      const others = (this.#users.get(document) ?? 1) - 1;
      this.#users.set(document, others);
      if (others === 0) this.#users.delete(document);
      this.#bytes -= own + (others > 0 ? 0 : shared);
    };
  }
}

/** An operation that has started; a query or a mutation has been executed, and has one answer. */
export interface Subscription {
  /** Arguments for executing each event. */
  readonly args: ExecutionArgs;
  /** Ends when the reader returns, or after an answer with only the error that ended it. */
  readonly answers: AsyncIterableIterator<OperationResult>;
}

/** The circumstances of an operation. */
export interface Caller {
  /** How much of the deadline for its start, or for the answer of a query or mutation, has passed already. */
  readonly waitedMs?: number;
  /** Aborted when the client has disconnected, which ends its subscriptions. */
  readonly gone?: AbortSignal;
  /** Whether the document is this program's, not the client's. */
  readonly isOwn?: boolean;
  /** The error with which mutations are refused, see `GraphqlRequest`. */
  readonly forbidsWrites?: CellportError | undefined;
  /** What it may do; undefined for everything. */
  readonly access: Access | undefined;
  /** The address of the client. */
  readonly address?: string | undefined;
}

/** One answer as a stream. */
export async function* only(answer: OperationResult): AsyncGenerator<OperationResult> {
  yield answer;
}

const isStream = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

/** The answers to events; `onEnd` is called once, when there are no more or nobody waits for them. */
function answersTo(
  events: AsyncIterator<unknown>,
  answer: (event: unknown) => Promise<OperationResult>,
  format: FormatError,
  onEnd: () => void,
): Subscription['answers'] {
  let ended = false;
  const end = () => {
    if (!ended) onEnd();
    ended = true;
  };
  // Not a generator: that cannot return while it waits for an event.
  const answers: Subscription['answers'] = {
    [Symbol.asyncIterator]: () => answers,
    async next() {
      if (ended) return { done: true, value: undefined };
      try {
        const { done, value } = await events.next();
        if (done !== true) return { done: false, value: await answer(value) };
        end();
        return { done: true, value: undefined };
      } catch (error) {
        end();
        // The hub has logged why it ended its subscriptions; do not log it again for each client.
        return {
          done: false,
          value: { errors: [error instanceof CellportError ? formatted(error) : format(error)] },
        };
      }
    },
    async return() {
      end();
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
  return answers;
}

/** The operations of streams on a server, with as many subscriptions as its limit allows. */
export class Subscriptions {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #held = new HeldRequests();
  /** The number of those that are active. */
  active = 0;

  constructor(services: Services, pipeline: Pipeline) {
    this.#services = services;
    this.#pipeline = pipeline;
  }

  /** Starts a subscription, or answers a query or a mutation. */
  async start(
    request: OperationRequest,
    { waitedMs = 0, gone, isOwn, forbidsWrites, access, address }: Caller,
  ): Promise<Subscription | Failed> {
    const { limits, db, budgets } = this.#services;
    // Nothing has refused a message of a WebSocket before.
    const flood = access && budgets?.floodOf(access, address ?? '');
    if (flood) return { errors: [formatted(flood)] };
    const work = new Work(limits, db, undefined, waitedMs, traceRequest());
    work.stopOn(gone);
    try {
      const context = createContext(this.#services, work, access);
      const refused = forbidsWrites && { forbidsWrites };
      const prepared = await this.#pipeline.prepare(request, { ...context, address, ...refused }, isOwn);
      if ('errors' in prepared) {
        if (access) budgets?.noteInvalid(access, address ?? '');
        return prepared;
      }
      const { document, operation, operationName, variables } = prepared;
      const args = { schema: this.#pipeline.schema, document, operationName, variableValues: variables };
      const isStarting = operation === undefined || operation.operation === 'subscription';
      if (isStarting) return await this.#subscribe(prepared, args, request, gone);
      return { args, answers: only(await this.#execute(prepared, work)) };
    } catch (error) {
      return { errors: [this.#pipeline.format(error)] };
    } finally {
      work.end();
    }
  }

  async #subscribe(
    execution: Execution,
    args: ExecutionArgs,
    request: object,
    gone?: AbortSignal,
  ): Promise<Subscription | Failed> {
    const { format } = this.#pipeline;
    const most = this.#services.limits.subscriptions;
    if (this.active >= most) {
      const advice = 'retry later or use another server';
      throw limitExceeded('number of subscriptions on this server', this.active + 1, most, advice);
    }
    const release = this.#held.hold(execution.document, request);
    this.active += 1;
    const onEnd = () => {
      this.active -= 1;
      release();
    };
    try {
      const { context, units = 0 } = execution;
      const events = await withinBudget(context, units, async () =>
        createSourceEventStream({ ...args, contextValue: context }),
      );
      if (isStream(events)) {
        const each = (event: unknown) => this.#answer(execution, event);
        const answers = answersTo(events[Symbol.asyncIterator](), each, format, () => {
          gone?.removeEventListener('abort', leave);
          onEnd();
        });
        const leave = () => void answers.return?.();
        gone?.addEventListener('abort', leave);
        if (gone?.aborted === true) leave();
        return { args, answers };
      }
      onEnd();
      return { errors: (events.errors ?? []).map((error) => (error instanceof Error ? format(error) : error)) };
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /** Answers one event in its own context: data read for the previous event may have changed. */
  async #answer(execution: Execution, root: unknown): Promise<OperationResult> {
    const { limits, db } = this.#services;
    const work = new Work(limits, db, undefined, 0, traceRequest());
    const { access, address } = execution.context;
    const context = { ...createContext(this.#services, work, access), address };
    try {
      return await this.#execute({ ...execution, context, root }, work);
    } finally {
      work.end();
    }
  }

  /** Executes an operation, which has its own deadline. One event may concern thousands of subscriptions: each takes a turn. */
  async #execute(execution: Execution, work: Work): Promise<OperationResult> {
    const late = work.overdue.then((error) => ({ data: null, errors: [this.#pipeline.format(error)] }));
    const result = await Promise.race([this.#pipeline.execute(execution), late]);
    work.told.operation = execution.operation?.name?.value;
    work.told.code = result.errors?.[0]?.extensions?.['code'] as string | undefined;
    return result;
  }
}
