import { setMaxListeners } from 'node:events';

import { CellportError } from '../errors.js';
import { type Call, newMeter } from '../store/request/meter.js';

/** One request from its arrival to its answer: what it cost, and when to stop working for it. */
export interface Work extends Call {
  readonly signal: AbortSignal;
  /** Nobody waits for the answer any more: reads stop. Writes under way go on, so that their outcome is no matter of luck. */
  readonly abandon: () => void;
  /** To be called before the first write. */
  readonly startWriting: () => void;
  /** Fulfilled a moment after the deadline, for the answer that has to be given whatever still runs then. */
  readonly overdue: Promise<CellportError>;
  /** Frees the timers. */
  readonly end: () => void;
}

/** For reads that stop at the deadline to come back with their errors, and so for a partial answer. */
const GRACE_MS = 250;

/** The reason that reads of a client that has hung up are stopped with; nobody is told of it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What somebody will want to know of a request behind it: what it cost in units, and which ranges it read. */
export interface Watched {
  readonly cost: boolean;
  readonly reads: boolean;
}

/** Starts the clock of one request; at its deadline everything that listens to `signal` fails with UNAVAILABLE. */
export function startWork(deadlineMs: number, { cost, reads }: Watched = { cost: true, reads: false }): Work {
  const stop = new AbortController();
  // Each command under way listens; Node takes more than ten for a leak and says so.
  setMaxListeners(Infinity, stop.signal);
  // Made when it is needed: an error walks the stack.
  const late = () =>
    new CellportError('UNAVAILABLE', `the request took longer than its deadline of ${deadlineMs} ms`, { deadlineMs });
  const deadline = setTimeout(() => stop.abort(late()), deadlineMs);
  let lastCall: NodeJS.Timeout | undefined;
  const overdue = new Promise<CellportError>((resolve) => {
    lastCall = setTimeout(() => resolve(late()), deadlineMs + GRACE_MS);
  });
  let writing = false;
  return {
    meter: newMeter(),
    signal: stop.signal,
    unpriced: !cost && !reads,
    reads: reads ? [] : undefined,
    abandon: () => {
      if (!writing) stop.abort(new ClientGone('the client is gone'));
    },
    startWriting: () => {
      writing = true;
    },
    overdue,
    end: () => {
      clearTimeout(deadline);
      clearTimeout(lastCall);
    },
  };
}
