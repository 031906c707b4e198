import { CellportError } from '../../errors.js';
import { backOff } from '../../store/request/backoff.js';

/** With the pauses of `backOff`, about two minutes in which DynamoDB takes nothing at all. */
const FRUITLESS_TRIES = 120;

/** Repeats work that may be repeated while DynamoDB throttles or is away, for about two minutes. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const passing = error instanceof CellportError && (error.code === 'THROTTLED' || error.code === 'UNAVAILABLE');
      if (!passing || signal?.aborted === true || tries >= FRUITLESS_TRIES) throw error;
      await backOff(tries, signal);
    }
  }
}
