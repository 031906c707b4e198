import { CellportError } from '../errors.js';

/** Thrown when a signal stops a command. */
export class Interrupted extends Error {}

/** Messages of the SDK that need extra advice. */
const HINTS: readonly { readonly pattern: RegExp; readonly hint: string }[] = [
  {
    pattern: /credentials/i,
    hint: 'The AWS SDK found no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (to any value for DynamoDB Local), or AWS_PROFILE.',
  },
  { pattern: /region is missing/i, hint: 'The AWS SDK found no region. Set AWS_REGION.' },
  {
    pattern: /ResourceNotFoundException|non-existent table/i,
    hint: 'A table is missing. Run `cellport table create` to create it; `cellport table describe` shows what exists.',
  },
];

/** The message and exit code for a failure. */
export function endOf(error: unknown): { readonly message: string; readonly code: 1 | 2 } {
  if (error instanceof Interrupted) return { message: error.message, code: 1 };
  if (error instanceof CellportError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.message || error.cause.name})` : '';
    return { message: `cellport: ${error.message}${cause}`, code: error.code === 'BAD_USER_INPUT' ? 2 : 1 };
  }
  if (!(error instanceof Error)) return { message: `cellport: ${String(error)}`, code: 1 };
  const known = HINTS.find(({ pattern }) => pattern.test(error.name) || pattern.test(error.message));
  if (known !== undefined) return { message: `cellport: ${known.hint}\n(${error.message})`, code: 1 };
  // Messages of system errors name the file or port. Anything else is a bug, so the stack is needed.
  const fromSystem = typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error;
  return { message: `cellport: ${fromSystem ? error.message : (error.stack ?? error.message)}`, code: 1 };
}
