import { retry } from '../../retry.js';
import { BACKGROUND_RETRIES } from '../../store/request/retries.js';

/** Repeats work that may be repeated while DynamoDB throttles or is unavailable, for about two minutes. */
export function patiently<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return retry(work, { ...BACKGROUND_RETRIES, signal });
}
