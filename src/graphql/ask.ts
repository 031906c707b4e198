import { credentialIn } from '../access/credential.js';
import { CellportError } from '../errors.js';
import type { Log } from '../log.js';
import { traceRequest } from '../tracing.js';
import { createContext, type RequestContext, type Services } from './context.js';
import { withinBudget } from './execution/within-budget.js';
import { Work } from './work.js';

/** Who asks a question, and since when. */
export interface Asker {
  /** What the question is called. */
  readonly operation: string | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly address: string;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  readonly waitedMs: number;
}

/** An answer, or why there is none, and the headers that tell of the budget. */
export interface Asked<T> {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly outcome: { readonly answer: T } | { readonly error: unknown };
}

/**
 * Answers a question that is not in GraphQL as an operation would be: for the same principals, within the same budgets and
 * deadline, by the same reads. `units`: a bound of the read units that it takes. Never rejects.
 */
export async function ask<T>(
  services: Services,
  log: Log,
  { operation, headers, address, gone, waitedMs }: Asker,
  units: number,
  question: (context: RequestContext) => Promise<T>,
): Promise<Asked<T>> {
  const { limits, db, authenticator } = services;
  const work = new Work(limits, db, { cost: false, reads: false }, waitedMs, traceRequest(headers));
  work.told.operation = operation;
  work.stopOn(gone);
  const overdue = work.overdue.then((error) => {
    log.warn({ err: error }, 'A request did not stop at its deadline');
    throw error;
  });
  const run = async () => {
    const access = await authenticator?.access(credentialIn(headers));
    const context = { ...createContext(services, work, access), address };
    const result = await withinBudget(context, units, async () => ({ answer: await question(context) }));
    if ('errors' in result) throw work.reservation?.refusal ?? new Error('refused without a reason');
    return result;
  };
  try {
    const outcome = await Promise.race([run(), overdue]);
    return { outcome, headers: work.reservation?.headers ?? [] };
  } catch (error) {
    work.told.code = error instanceof CellportError ? error.code : 'INTERNAL_SERVER_ERROR';
    return { outcome: { error: work.refusal ?? error }, headers: work.reservation?.headers ?? [] };
  } finally {
    work.end();
  }
}
