import type { Database } from '../../src/store/database.js';

/**
 * The fate of an attempt: it fails before it reaches DynamoDB, it meets a transaction on its item, it succeeds and its
 * response is lost, or it never ends.
 */
export type Fault = 'throttled' | 'refused' | 'conflict' | 'answer lost' | 'never answered';

export interface Faults {
  /** Attempts that have failed so far. */
  readonly met: number;
}

const EXCEPTIONS = { throttled: 'ThrottlingException', conflict: 'TransactionConflictException' };

const failure = (fault: Exclude<Fault, 'never answered'>) =>
  fault in EXCEPTIONS
    ? Object.assign(new Error(fault), { name: EXCEPTIONS[fault as 'conflict'], $fault: 'client', $metadata: {} })
    : Object.assign(new Error('socket'), { code: fault === 'refused' ? 'ECONNREFUSED' : 'ECONNRESET' });

/**
 * Makes attempts of one DynamoDB operation fail, for example `PutItem`: the first ones with the faults in the list, or
 * all of them with one fault. Each retry of the SDK is an attempt.
 */
export function injectFaults(
  { client }: Pick<Database, 'client'>,
  operation: string,
  faults: readonly (Fault | undefined)[] | Fault,
): Faults {
  const state = { met: 0 };
  let attempt = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== `${operation}Command`) return next(args);
      const fault = typeof faults === 'string' ? faults : faults[attempt];
      attempt += 1;
      if (fault === undefined) return next(args);
      state.met += 1;
      if (fault === 'never answered') return new Promise(() => undefined);
      if (fault === 'answer lost') await next(args);
      throw failure(fault);
    },
    { step: 'deserialize', priority: 'high', name: `faults-${Math.random()}` },
  );
  return state;
}

/** Calls of a plain operation, with its input and output as lib-dynamodb gives them. */
type Plain = Record<string, unknown>;

/**
 * Lets a function answer one operation: it receives the input and may call DynamoDB with that or another input. For
 * responses that DynamoDB Local never gives.
 */
export function interceptCalls(
  { client }: Pick<Database, 'client'>,
  operation: string,
  answer: (input: Plain, ask: (input: Plain) => Promise<Plain>) => Promise<Plain>,
): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName !== `${operation}Command`) return next(args);
      let response: unknown;
      const output = await answer(args.input as Plain, async (input) => {
        const result = await next({ ...args, input: input as typeof args.input });
        response = result.response;
        return result.output as unknown as Plain;
      });
      return { response, output: { $metadata: {}, ...output } as never };
    },
    { step: 'initialize', priority: 'low', name: `intercept-${Math.random()}` },
  );
}

/** Lets DynamoDB leave half of each batch of writes to the entities table unprocessed, and all of every third one. */
export function leaveUnprocessed(db: Pick<Database, 'client' | 'tables'>): void {
  const table = db.tables.entities;
  let calls = 0;
  interceptCalls(db, 'BatchWriteItem', async (input, ask) => {
    const puts = (input['RequestItems'] as Record<string, object[]>)[table] ?? [];
    calls += 1;
    const taken = calls % 3 === 0 ? 0 : Math.ceil(puts.length / 2);
    if (taken > 0) await ask({ RequestItems: { [table]: puts.slice(0, taken) } });
    return { UnprocessedItems: taken === puts.length ? {} : { [table]: puts.slice(taken) } };
  });
}
