import { CellportError } from '../../errors.js';

const THROTTLING = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'ProvisionedThroughputExceededException',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'LimitExceededException',
]);

const OUT_OF_REACH = new Set([
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

/** How long a client should wait after THROTTLED: the SDK has backed off already, so a moment more is enough. */
const RETRY_AFTER_MS = 1_000;

interface SdkFailure {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  /** What a condition found, in wire format, where that was asked for. */
  readonly Item?: unknown;
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/** THROTTLED, after retries with jitter did not help. */
export function throttled(cause?: unknown): CellportError {
  return new CellportError(
    'THROTTLED',
    'DynamoDB is throttling requests; try again in a moment',
    { retryAfterMs: RETRY_AFTER_MS },
    { cause },
  );
}

/** UNAVAILABLE, with what is known of the reason. */
export function unavailable(reason: string, cause?: unknown): CellportError {
  return new CellportError('UNAVAILABLE', `DynamoDB cannot be used: ${reason}`, {}, { cause });
}

/** What the SDK said of one failure, as far as anyone here looks at it. */
export function failureOf(error: unknown): SdkFailure {
  return typeof error === 'object' && error !== null ? error : {};
}

/** Whether a failure is this exception of DynamoDB; by name, so that copies of the SDK do not matter. */
export function isFailure(error: unknown, name: string): boolean {
  return failureOf(error).name === name;
}

/** Whether a failure may pass by itself: THROTTLED or UNAVAILABLE. */
export function isTransient(error: unknown): boolean {
  return error instanceof CellportError && (error.code === 'THROTTLED' || error.code === 'UNAVAILABLE');
}

/** Why each write of a transaction was refused, in their order; none where the failure is another one. */
export function cancellationCodes(error: unknown): readonly (string | undefined)[] {
  return (failureOf(error).CancellationReasons ?? []).map(({ Code }) => Code);
}

/** Whether a transaction was refused because another one was writing the same items. */
export function isTransactionConflict(error: unknown): boolean {
  return cancellationCodes(error).includes('TransactionConflict');
}

/**
 * The failure of a command as the rest of the program knows it: THROTTLED, UNAVAILABLE, or the error itself where it
 * says something of the request (a condition that did not hold, a table that is missing).
 */
export function mapFailure(error: unknown): unknown {
  if (error instanceof CellportError) return error;
  const { name, code, $metadata, CancellationReasons } = failureOf(error);
  const throttling =
    THROTTLING.has(String(name)) ||
    $metadata?.httpStatusCode === 429 ||
    (CancellationReasons ?? []).some((reason) => THROTTLING.has(reason.Code ?? ''));
  if (throttling) return throttled(error);
  const outOfReach =
    OUT_OF_REACH.has(String(name)) || OUT_OF_REACH.has(String(code)) || ($metadata?.httpStatusCode ?? 0) >= 500;
  if (outOfReach) return unavailable('it does not answer', error);
  if (name === 'ResourceNotFoundException') return unavailable('a table is missing', error);
  return error;
}
