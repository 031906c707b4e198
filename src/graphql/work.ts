import { CellportError, limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';
import { type Call, newMeter } from '../store/request/meter.js';
import { type Turn, takeTurn } from '../turns.js';

/** One request from arrival to response: its cost, and when to stop working on it. */
export interface Work extends Call {
  readonly signal: AbortSignal;
  /** To be called when the client disconnects. Stops reads; a mutation continues, so that its outcome is certain. */
  readonly abandon: () => void;
  /** To be called before the first write of a mutation. */
  readonly startWriting: () => void;
  /** To be awaited between steps of long work; rejects as soon as `signal` is aborted. */
  readonly turn: Turn;
  /** Counts objects of the answer. Throws LIMIT_EXCEEDED above the limit; all reads of the request then stop, too. */
  readonly charge: (objects: number) => void;
  /** Counts from zero: the answer is made again. */
  readonly recount: () => void;
  /** Why the whole request is refused, if it is. */
  readonly refusal: () => CellportError | undefined;
  /** Resolves shortly after the deadline with the error to respond with, even if work is still running. */
  readonly overdue: Promise<CellportError>;
  /** Frees the timers. */
  readonly end: () => void;
}

/** For reads that stop at the deadline to return their errors, which makes a partial answer. */
const GRACE_MS = 250;

/** What to do about an answer with too many objects. */
export const SHORTER = 'request shorter pages, or fewer nested lists';

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
export function startWork(
  { deadlineMs, maxNodes }: Pick<Limits, 'deadlineMs' | 'maxNodes'>,
  { cost, reads }: Reported = { cost: true, reads: false },
): Work {
  const stop = new AbortController();
  // Created on demand, as an error captures the stack.
  const late = () =>
    new CellportError('UNAVAILABLE', `the request took longer than its deadline of ${deadlineMs} ms`, { deadlineMs });
  const deadline = setTimeout(() => stop.abort(late()), deadlineMs);
  let lastCall: NodeJS.Timeout | undefined;
  const overdue = new Promise<CellportError>((resolve) => {
    lastCall = setTimeout(() => resolve(late()), deadlineMs + GRACE_MS);
  });
  let writing = false;
  let objects = 0;
  let refusal: CellportError | undefined;
  return {
    turn: () => takeTurn(stop.signal),
    charge: (more) => {
      objects += more;
      if (objects <= maxNodes) return;
      refusal ??= limitExceeded('number of objects in the answer', `more than ${maxNodes}`, maxNodes, SHORTER);
      // A mutation has written what it answers with.
      if (!writing) stop.abort(refusal);
      throw refusal;
    },
    recount: () => {
      objects = 0;
    },
    refusal: () => refusal,
    meter: newMeter(),
    signal: stop.signal,
    unpriced: !cost && !reads,
    reads: reads ? [] : undefined,
    pages: reads ? [] : undefined,
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
