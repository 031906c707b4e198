import type { Clock } from '../clock.js';
import { CellportError } from '../errors.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { LAYOUT } from './change.js';
import type { StatePort } from './ports.js';
import { firstState, upgraded } from './state.js';

/** Another process took the work over: nothing of ours can be written any more. */
export class OwnershipLost extends Error {
  constructor(owner: string) {
    super(`the stream is now read by ${owner === '' ? 'nobody' : owner}`);
    this.name = 'OwnershipLost';
  }
}

/** The state as its owner holds it. */
export interface SharedState {
  current(): StreamState;
  /**
   * Writes what `change` makes of the state, after all writes before it; resolves once it is known to be stored. Throws
   * OwnershipLost where another process has written since.
   */
  update(change: (state: StreamState) => StreamState): Promise<StreamState>;
  /** When the last write was begun, on the clock of this process. */
  writtenAt(): number;
  /**
   * Whether a write of ours was stored less than a lease ago, so that nobody can have taken the work over for our silence.
   * By the time of day, because a machine's sleep is no time to `now()`.
   */
  holds(): boolean;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Waits before repetition number `attempt`, longer each time, and a random part of it. */
export function pause(clock: Clock, attempt: number, signal: AbortSignal): Promise<void> {
  return clock.sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + clock.random() / 2), signal);
}

/** Throws the signal's reason once it is aborted. */
const goOn = (signal: AbortSignal) => signal.throwIfAborted();

/**
 * Stores one state and says whether it is there: also when answers are lost, because the write carries a token of its
 * own and is repeated as it is until it is known to stand or to be refused.
 */
async function store(port: StatePort, clock: Clock, next: StreamState, signal: AbortSignal): Promise<StreamState> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      if (await port.put(next)) return next;
      const found = await port.load();
      if (found?.token === next.token) return next;
      // The version that the condition asked for is gone for good: versions only grow.
      throw new OwnershipLost(found?.owner ?? '');
    } catch (error) {
      if (error instanceof OwnershipLost) throw error;
      goOn(signal);
      await pause(clock, attempt, signal);
      goOn(signal);
    }
  }
}

/** The cells were made by another version of this program, whose batches this one cannot go on with. */
export class OtherLayout extends CellportError {
  constructor(layout: string) {
    super(
      'UNAVAILABLE',
      layout === LAYOUT_OF_RECORDS
        ? 'the cells are kept by an AWS Lambda: set CELLPORT_CONSUMER=off, or see docs/stream.md on how to hand them over'
        : `the cells are of layout ${layout} and this version of Cellport makes ${LAYOUT}: run \`cellport recount\`, ` +
            'or start the version that made it',
    );
    this.name = 'OtherLayout';
  }
}

/** The layout of cells that are kept record by record, by an AWS Lambda: no server's consumer may touch them. */
const LAYOUT_OF_RECORDS = `${LAYOUT} by records`;

/**
 * Makes sure that the cells are kept record by record and by nobody else, from their first record on. `wall` is the time
 * now. Throws OtherLayout where a server's consumer keeps them.
 */
export async function claimForRecords(port: StatePort, wall: number): Promise<void> {
  const first = { ...firstState('', wall), layout: LAYOUT_OF_RECORDS, version: 1 };
  const found = (await port.load()) ?? ((await port.put(first)) ? first : await port.load());
  if (found?.layout !== LAYOUT_OF_RECORDS) throw new OtherLayout(found?.layout ?? 'another time');
}

/** What it takes to become the owner. */
export interface LeaseOptions {
  readonly port: StatePort;
  readonly clock: Clock;
  /** The name of this process: no other may ever have the same. */
  readonly self: string;
  /** How long an owner may be silent before its work is taken over. */
  readonly leaseMs: number;
  /** Whether an owner is known to be dead, so that nobody has to wait for it. */
  readonly ownerIsGone: (owner: string) => boolean;
  /** The state before the first start. */
  readonly first: () => Promise<StreamState>;
  /** Told of the state each time it was looked at, while another process is the owner. */
  readonly onLook: (state: StreamState) => void;
  /** Whether counts of another layout are taken over, with a gap, where they are refused otherwise. */
  readonly upgrade?: boolean | undefined;
  /** Takes over at once, whoever owns it. */
  readonly force?: boolean | undefined;
}

/**
 * Waits until this process is the owner: at once where nobody is, else when the owner has not written for `leaseMs` on
 * the clock of this process. Clocks only decide who tries; that one alone succeeds, the versions of the state see to.
 * Throws OtherLayout where the cells are not this version's and are not to be upgraded, and the signal's reason when it is aborted.
 */
export async function takeOwnership(options: LeaseOptions, signal: AbortSignal): Promise<SharedState> {
  const { port, clock, self, leaseMs, ownerIsGone } = options;
  let writes = 0;
  const signed = (state: StreamState, before: StreamState) => ({
    ...state,
    version: before.version + 1,
    token: `${self}/${(writes += 1)}`,
  });
  let seen: { readonly version: number; readonly at: number } | undefined;
  for (;;) {
    goOn(signal);
    const loaded = (await port.load()) ?? (await options.first());
    if (loaded.layout !== LAYOUT && options.upgrade !== true) throw new OtherLayout(loaded.layout);
    const found = loaded.layout === LAYOUT ? loaded : upgraded(loaded, clock.wall());
    const now = clock.now();
    if (seen?.version !== found.version) seen = { version: found.version, at: now };
    const free =
      found.owner === '' ||
      found.owner === self ||
      options.force === true ||
      now - seen.at >= leaseMs ||
      ownerIsGone(found.owner);
    if (free) {
      const wall = clock.wall();
      try {
        const taken = await store(port, clock, signed({ ...found, owner: self, atEnd: false }, found), signal);
        return ownedState({ port, clock, leaseMs }, { taken, wall }, signed, signal);
      } catch (error) {
        if (!(error instanceof OwnershipLost)) throw error;
        seen = undefined;
        continue;
      }
    }
    options.onLook(found);
    await clock.sleep(Math.min(1_000, leaseMs / 4), signal);
  }
}

function ownedState(
  { port, clock, leaseMs }: Pick<LeaseOptions, 'port' | 'clock' | 'leaseMs'>,
  { taken, wall }: { readonly taken: StreamState; readonly wall: number },
  signed: (state: StreamState, before: StreamState) => StreamState,
  signal: AbortSignal,
): SharedState {
  let current = taken;
  let writtenAt = clock.now();
  let heldAt = wall;
  // Writes follow one another, each on the version of the one before.
  let last: Promise<unknown> = Promise.resolve();
  return {
    current: () => current,
    writtenAt: () => writtenAt,
    holds: () => clock.wall() - heldAt < leaseMs,
    update(change) {
      const write = last.then(async () => {
        writtenAt = clock.now();
        const begun = clock.wall();
        current = await store(port, clock, signed(change(current), current), signal);
        heldAt = begun;
        return current;
      });
      last = write.catch(() => undefined);
      return write;
    },
  };
}
