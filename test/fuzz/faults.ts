import type { LiveServer } from '../http/live-server.js';
import { runsAll } from '../support/rounds.js';

/**
 * The first seed of a run; each round uses the next one. CELLPORT_SEED repeats a run, with CELLPORT_RUNS=1 a single
 * round.
 */
export const SEED = Number(process.env['CELLPORT_SEED'] ?? (runsAll ? Math.floor(Math.random() * 1e9) : 1));

/** Timeout for a test with any number of rounds. */
export const NO_TIMEOUT = 0;

interface Round {
  readonly seed: number;
  readonly sent: unknown;
  readonly status: number;
  readonly text: string;
  readonly logged: LiveServer['logged'];
}

/** Fails with the seed if a response is a server fault: an internal error, or a 5xx status other than UNAVAILABLE. */
export function expectNoFault({ seed, sent, status, text, logged }: Round): void {
  const unexpected = logged.find(({ level }) => level === 'error');
  const isFault = status >= 500 && !text.includes('"UNAVAILABLE"');
  if (!isFault && !text.includes('INTERNAL_SERVER_ERROR') && unexpected === undefined) return;
  const request = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const reason =
    unexpected === undefined
      ? ''
      : `\n${unexpected.message}: ${String((unexpected.fields['err'] as Error | undefined)?.stack)}`;
  throw new Error(`seed ${seed}: status ${status}: ${text.slice(0, 500)}\n${request.slice(0, 3_000)}${reason}`);
}

/** Prints statistics during long runs. */
export function report(what: string, count: number, outcomes: ReadonlyMap<string, number>): void {
  if (!runsAll) return;
  console.log(`${what}: ${count} from the seed ${SEED}`, Object.fromEntries(outcomes));
}
