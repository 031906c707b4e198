import { CellportError } from '../../errors.js';

const THROTTLING = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'LimitExceededException',
  // Transactions on the item, one after another.
  'TransactionConflictException',
]);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'TimeoutError',
  'NetworkingError',
  'InternalServerError',
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
]);

/** How long a client should wait after THROTTLED: briefly, because the SDK has already backed off. */
const RETRY_AFTER_MS = 1_000;

interface SdkFailure {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** `client` if DynamoDB refused the request, which then changed nothing. */
  readonly $fault?: unknown;
  /** Whether an earlier attempt of the command got no answer. */
  readonly applied?: unknown;
  /** The item that a condition found, in wire format, if that was requested. */
  readonly Item?: unknown;
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/** THROTTLED, after retries have failed. */
export function throttled(cause?: unknown): CellportError {
  return new CellportError(
    'THROTTLED',
    'DynamoDB is throttling requests; retry in a moment',
    { retryAfterMs: RETRY_AFTER_MS },
    { cause },
  );
}

class DatabaseUnavailable extends CellportError {}

/** The answer to a write did not come that must not be sent again. Without a cause, as the SDK would go by that. */
export class AnswerLost extends DatabaseUnavailable {
  constructor(error: unknown) {
    super('UNAVAILABLE', `DynamoDB is unavailable: an answer was lost (${String(error)})`);
  }
}

/** Nobody knows whether a write was made, of an item that may be read. */
export class OutcomeUnknown extends DatabaseUnavailable {
  constructor(cause: unknown) {
    const message = 'an answer was lost, and the item is not as this write left it: read it to see whether it was made';
    super('UNAVAILABLE', `DynamoDB is unavailable: ${message}`, {}, { cause });
  }
}

/** UNAVAILABLE, with the reason if known. */
export function unavailable(reason: string, cause?: unknown): CellportError {
  return new DatabaseUnavailable('UNAVAILABLE', `DynamoDB is unavailable: ${reason}`, {}, { cause });
}

/** Whether DynamoDB throttles, or does not respond: unlike a missing table, that passes. */
export function isOutage(error: unknown): error is CellportError {
  if (error instanceof DatabaseUnavailable) return !isMissingTable(error);
  return error instanceof CellportError && error.code === 'THROTTLED';
}

/** The relevant fields of an SDK error. */
export function failureOf(error: unknown): SdkFailure {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Failures of connections that were never made. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether DynamoDB may have done what a command that failed asked for. */
export const mayHaveArrived = (error: unknown): boolean =>
  failureOf(error).$fault !== 'client' && !NEVER_SENT.has(String(failureOf(error).code));

/** Whether an earlier attempt may have been applied and its answer lost: a condition may then have found its own result. */
export const mayHaveBeenApplied = (error: unknown): boolean => failureOf(error).applied === true;

/** Whether an error is this exception of DynamoDB; checked by name, because there may be several copies of the SDK. */
export function isFailure(error: unknown, name: string): boolean {
  return failureOf(error).name === name;
}

/** Whether a failure is transient: THROTTLED or UNAVAILABLE. */
export function isTransient(error: unknown): boolean {
  return error instanceof CellportError && (error.code === 'THROTTLED' || error.code === 'UNAVAILABLE');
}

/** Whether a command failed because nothing listens at the endpoint, or what did has just ended. */
export function isDisconnected(error: unknown): boolean {
  const { code } = failureOf(error instanceof CellportError ? error.cause : error);
  return code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** Whether a write was made; false if DynamoDB refused it, as its condition did not hold. */
export async function holds(write: Promise<unknown>, refusal = 'ConditionalCheckFailedException'): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isFailure(error, refusal)) return false;
    throw error;
  }
}

/** Whether a command failed because its table does not exist. */
export function isMissingTable(error: unknown): boolean {
  return isFailure(error instanceof CellportError ? error.cause : error, 'ResourceNotFoundException');
}

/** The reasons why the writes of a transaction were rejected, in order; empty for any other failure. */
export function cancellationCodes(error: unknown): readonly (string | undefined)[] {
  return (failureOf(error).CancellationReasons ?? []).map(({ Code }) => Code);
}

/** Whether a transaction was rejected because another one was writing the same items. */
export function isTransactionConflict(error: unknown): boolean {
  return cancellationCodes(error).includes('TransactionConflict');
}

/**
 * Maps a command's error for the rest of the program: THROTTLED, UNAVAILABLE, or the error itself if it is about the
 * request, such as a failed condition.
 */
export function mapFailure(error: unknown): unknown {
  if (error instanceof CellportError) return error;
  const { name, code, $metadata, CancellationReasons } = failureOf(error);
  const throttling =
    THROTTLING.has(String(name)) ||
    $metadata?.httpStatusCode === 429 ||
    (CancellationReasons ?? []).some((reason) => THROTTLING.has(reason.Code ?? ''));
  if (throttling) return throttled(error);
  const unreachable =
    UNREACHABLE.has(String(name)) || UNREACHABLE.has(String(code)) || ($metadata?.httpStatusCode ?? 0) >= 500;
  if (unreachable) return unavailable('it does not respond', error);
  if (name === 'ResourceNotFoundException') return unavailable('a table does not exist', error);
  return error;
}
