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
    pattern: /AccessDeniedException|not authorized to perform/i,
    hint: 'A permission is missing: `cellport iam --role admin` prints those of all commands, and `--role source --table NAME` those to read a table of yours.',
  },
  {
    pattern: /ResourceNotFoundException|non-existent table/i,
    hint: 'A table does not exist: `cellport import`, `cellport serve` and `cellport table create` create it; `cellport table describe` shows what exists.',
  },
];

/** What to do about an error of the SDK; undefined if nothing is known. */
export const hintFor = (error: Error): string | undefined =>
  HINTS.find(({ pattern }) => pattern.test(error.name) || pattern.test(error.message))?.hint;

/** The message and exit code for a failure. */
export function endOf(error: unknown): { readonly message: string; readonly code: 1 | 2 } {
  if (error instanceof Interrupted) return { message: error.message, code: 1 };
  if (error instanceof CellportError) {
    const cause = error.cause instanceof Error ? error.cause : undefined;
    const hint = cause && hintFor(cause);
    if (hint !== undefined) return { message: `cellport: ${hint}`, code: 1 };
    const why = cause === undefined ? '' : ` (${cause.message || cause.name})`;
    return { message: `cellport: ${error.message}${why}`, code: error.code === 'BAD_USER_INPUT' ? 2 : 1 };
  }
  if (!(error instanceof Error)) return { message: `cellport: ${String(error)}`, code: 1 };
  const hint = hintFor(error);
  if (hint !== undefined) return { message: `cellport: ${hint}\n(${error.message})`, code: 1 };
  // Messages of system errors name the file or port. Anything else is a bug, so the stack is needed.
  const fromSystem = typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error;
  return { message: `cellport: ${fromSystem ? error.message : (error.stack ?? error.message)}`, code: 1 };
}
