import { withDeadline } from '../../connection.js';
import type { Database } from '../database.js';
import { unavailable } from './failures.js';

interface Ends {
  readonly signal?: AbortSignal | undefined;
  /** Converts failures of the command into the errors to throw; by default they are thrown unchanged. */
  readonly failure?: ((error: unknown) => unknown) | undefined;
}

/**
 * The result of a command to DynamoDB: every one is sent through here. Throws UNAVAILABLE when it takes longer than the
 * database allows, and the signal's reason when it is aborted.
 */
export function withinTime<T>(
  { giveUpAfterMs: ms, patiently }: Database,
  command: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
  ends: Ends = {},
): Promise<T> {
  return patiently(() => withDeadline({ ms, late: unavailable, ...ends }, (abortSignal) => command({ abortSignal })));
}
