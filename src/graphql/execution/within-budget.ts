import type { GraphQLFormattedError } from 'graphql';

import type { RequestContext } from '../context.js';
import { formatted } from '../error-format.js';

/**
 * Runs an operation within the budget of its principal: takes the read units that it may need, and gives back what it
 * did not use. Fails with THROTTLED if they are not there.
 */
export async function withinBudget<T>(
  { services, access, address = '', work }: RequestContext,
  units: number,
  run: () => Promise<T>,
): Promise<T | { readonly errors: readonly GraphQLFormattedError[] }> {
  const reservation = access && (await services.budgets?.reserve(access, address, units));
  if (reservation === undefined) return run();
  work.reservation = reservation;
  const { refusal, ceiling } = reservation;
  // Not logged each: the budgets report them.
  if (refusal !== undefined) return { errors: [formatted(refusal)] };
  work.limitTo(ceiling);
  try {
    return await run();
  } finally {
    reservation.settle(work.spent);
  }
}
