import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Waits before try number `attempt` (0 for the first repetition): a random time up to a bound that doubles from 25 ms to
 * 2 s, so that those who were refused together do not come back together. Throws the signal's reason when aborted.
 */
export async function backOff(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  try {
    await sleep(Math.random() * longest, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : error;
  }
}
