import { type ExecutionArgs, type GraphQLSchema, createSourceEventStream } from 'graphql';

import { CellportError, limitExceeded } from '../errors.js';
import { takeTurn } from '../turns.js';
import { type Services, createContext } from './context.js';
import { type FormatError, formatted } from './error-format.js';
import type { Execution } from './executor.js';
import { HeldRequests } from './held-requests.js';
import type { Failed, OperationResult } from './operation-result.js';
import type { Pipeline, SubscriptionRequest } from './pipeline.js';
import { startWork } from './work.js';

/** A subscription that has started. */
export interface Subscription {
  /** Arguments for executing each event. */
  readonly args: ExecutionArgs;
  /** Ends when the reader returns, or after an answer with only the error that ended it. */
  readonly answers: AsyncIterableIterator<OperationResult>;
}

/** Starts a subscription; `waitedMs` is how much of the deadline for that has passed already. */
export type Subscribe = (request: SubscriptionRequest, waitedMs?: number) => Promise<Subscription | Failed>;

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
        if (done !== true) {
          // One event may concern thousands of subscriptions.
          await takeTurn();
          return { done: false, value: await answer(value) };
        }
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

/** Returns a function that starts subscriptions on these services, up to the limit of this server. */
export function createSubscribe(services: Services, schema: GraphQLSchema, pipeline: Pipeline): Subscribe {
  const { limits } = services;
  const { format } = pipeline;
  let active = 0;
  const held = new HeldRequests();

  /** Answers one event in its own context: data read for the previous event may have changed. */
  async function answer(execution: Execution, root: unknown): Promise<OperationResult> {
    const work = startWork(limits);
    const late = work.overdue.then((error) => ({ data: null, errors: [format(error)] }));
    try {
      const context = createContext(services, work);
      return await Promise.race([pipeline.execute({ ...execution, context, root }), late]);
    } finally {
      work.end();
    }
  }

  async function start(request: SubscriptionRequest, waitedMs: number): Promise<Subscription | Failed> {
    const work = startWork(limits, undefined, waitedMs);
    let release: (() => void) | undefined;
    try {
      const prepared = pipeline.prepare(request, createContext(services, work));
      if ('errors' in prepared) return prepared;
      const { document, operationName, variables, context } = prepared;
      release = held.hold(document, request);
      const args = { schema, document, operationName, variableValues: variables };
      const events = await createSourceEventStream({ ...args, contextValue: context });
      if (isStream(events)) {
        const onEnd = () => {
          active -= 1;
          release?.();
        };
        const each = (event: unknown) => answer(prepared, event);
        return { args, answers: answersTo(events[Symbol.asyncIterator](), each, format, onEnd) };
      }
      release();
      return { errors: (events.errors ?? []).map(format) };
    } catch (error) {
      release?.();
      return { errors: [format(error)] };
    } finally {
      work.end();
    }
  }

  return async (request, waitedMs = 0) => {
    if (active >= limits.subscriptions) {
      const advice = 'retry later or use another server';
      const error = limitExceeded('number of subscriptions on this server', active + 1, limits.subscriptions, advice);
      return { errors: [format(error)] };
    }
    active += 1;
    const started = await start(request, waitedMs);
    if ('errors' in started) active -= 1;
    return started;
  };
}
