import { setMaxListeners } from 'node:events';

import { CellportError } from '../errors.js';
import { type Call, newMeter } from '../store/request/meter.js';

/** One request from arrival to response: its cost, and when to stop working on it. */
export interface Work extends Call {
  readonly signal: AbortSignal;
  /** To be called when the client disconnects. Stops reads; a mutation continues, so that its outcome is certain. */
  readonly abandon: () => void;
  /** To be called before the first write of a mutation. */
  readonly startWriting: () => void;
  /** Resolves shortly after the deadline with the error to respond with, whatever is still running. */
  readonly overdue: Promise<CellportError>;
  /** Frees the timers. */
  readonly end: () => void;
}

/** For reads that stop at the deadline to return their errors, which makes a partial answer. */
const GRACE_MS = 250;

/** The reason for which reads of a disconnected client stop; it is neither sent nor logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What a response reports about its request: its cost in units, and the ranges it read. */
export interface Reported {
  readonly cost: boolean;
  readonly reads: boolean;
}

/** Starts a request. At its deadline everything that listens to `signal` fails with UNAVAILABLE. */
export function startWork(deadlineMs: number, { cost, reads }: Reported = { cost: true, reads: false }): Work {
  const stop = new AbortController();
  // Every call in progress listens; above ten listeners Node warns of a leak.
  setMaxListeners(Infinity, stop.signal);
  // Created on demand, as an error captures the stack.
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
      if (!writing) stop.abort(new ClientGone('the client has disconnected'));
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
