import { CellportError } from '../errors.js';

/** A command was stopped by a signal before it was through. */
export class Interrupted extends Error {}

/** What the SDK says when it finds no account to work with, and what to do about it. */
const HINTS: readonly { readonly pattern: RegExp; readonly hint: string }[] = [
  {
    pattern: /credentials/i,
    hint: 'The AWS SDK finds no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (any value will do for DynamoDB Local), or AWS_PROFILE.',
  },
  { pattern: /region is missing/i, hint: 'The AWS SDK knows no region. Set AWS_REGION.' },
  {
    pattern: /ResourceNotFoundException|non-existent table/i,
    hint: 'A table is missing. `cellport table create` makes it; `cellport table describe` shows what is there.',
  },
];

/** How a command ends on a failure: what is said, and the exit code. */
export function endOf(error: unknown): { readonly message: string; readonly code: 1 | 2 } {
  if (error instanceof Interrupted) return { message: error.message, code: 1 };
  if (error instanceof CellportError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.message || error.cause.name})` : '';
    return { message: `cellport: ${error.message}${cause}`, code: error.code === 'BAD_USER_INPUT' ? 2 : 1 };
  }
  if (!(error instanceof Error)) return { message: `cellport: ${String(error)}`, code: 1 };
  const known = HINTS.find(({ pattern }) => pattern.test(error.name) || pattern.test(error.message));
  if (known !== undefined) return { message: `cellport: ${known.hint}\n(${error.message})`, code: 1 };
  // A file that is not there, a port that is taken: the system's own words name it. Anything else is ours to find.
  const ofSystem = typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error;
  return { message: `cellport: ${ofSystem ? error.message : (error.stack ?? error.message)}`, code: 1 };
}
