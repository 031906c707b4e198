import { CellportError, limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';
import { type Call, newMeter } from '../store/request/meter.js';
import type { Scheduler } from '../scheduling/scheduler.js';
import type { Turn } from '../scheduling/turns.js';

/** One request from arrival to response: its cost, and the signal to stop. */
export interface Work extends Call {
  readonly signal: AbortSignal;
  /** Whether half of the time until the deadline has passed. */
  readonly isLate: () => boolean;
  /** Call when the client disconnects. Stops reads; a mutation continues, so that its outcome is certain. */
  readonly abandon: () => void;
  /** Call before the first write of a mutation. */
  readonly startWriting: () => void;
  /** Await between steps of long work; rejects as soon as `signal` is aborted. */
  readonly turn: Turn;
  /** Counts objects of the answer. Throws LIMIT_EXCEEDED above the limit, and then stops all reads of the request. */
  readonly charge: (objects: number) => void;
  /** Resets the count, because the answer is produced again. */
  readonly recount: () => void;
  /** The error with which the whole request is refused; undefined if it is not. */
  readonly refusal: () => CellportError | undefined;
  /** Resolves shortly after the deadline with the error to send, even if work is still running. */
  readonly overdue: Promise<CellportError>;
  /** Clears the timers. */
  readonly end: () => void;
}

/** Time for reads that stop at the deadline to return their errors, so that the client gets a partial answer. */
const GRACE_MS = 250;

/** Advice for an answer with too many objects. */
export const SHORTER = 'request shorter pages, or fewer nested lists';

/** The reason with which reads of a disconnected client are aborted; neither sent nor logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What a response reports about its request: its cost, and the ranges it read. */
export interface Reported {
  readonly cost: boolean;
  readonly reads: boolean;
}

/**
 * Starts a request that has waited this long already. At its deadline everything that listens to `signal` fails with
 * UNAVAILABLE.
 */
export function startWork(
  { deadlineMs, maxNodes }: Limits,
  { clock, takeTurn }: Scheduler,
  { cost, reads }: Reported = { cost: true, reads: false },
  waitedMs = 0,
): Work {
  const stop = new AbortController();
  // Created on demand, because an error captures the stack.
  const late = () =>
    new CellportError('UNAVAILABLE', `the request took longer than its deadline of ${deadlineMs} ms`, { deadlineMs });
  const begun = clock.now() - waitedMs;
  const deadline = setTimeout(() => stop.abort(late()), deadlineMs - waitedMs);
  let lastCall: NodeJS.Timeout | undefined;
  const overdue = new Promise<CellportError>((resolve) => {
    lastCall = setTimeout(() => resolve(late()), deadlineMs - waitedMs + GRACE_MS);
  });
  let writing = false;
  let objects = 0;
  let refusal: CellportError | undefined;
  return {
    turn: () => takeTurn(stop.signal),
    charge: (more) => {
      objects += more;
      // A mutation has already written, so its answer is not refused.
      if (objects <= maxNodes || writing) return;
      refusal ??= limitExceeded('number of objects in the answer', `more than ${maxNodes}`, maxNodes, SHORTER);
      stop.abort(refusal);
      throw refusal;
    },
    recount: () => {
      objects = 0;
    },
    refusal: () => refusal,
    meter: newMeter(),
    signal: stop.signal,
    isLate: () => clock.now() - begun > deadlineMs / 2,
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
