import { setMaxListeners } from 'node:events';

import { elapsedSince, momentOf, type Clock, type Moment } from '../clock.js';
import { retry } from '../retry.js';

/** An item that only one process at a time may work on. */
export interface Leased {
  /** Raised by every write and required by the next one, so that one of two concurrent writers is rejected. */
  readonly version: number;
  /** The process that holds the lease; empty if none does. */
  readonly owner: string;
  /** Identifies a write whose response was lost. Items without a token are identified by version and owner. */
  readonly token?: string;
}

/** Where a leased item is stored. */
export interface LeaseStore<T extends Leased> {
  load(): Promise<T | undefined>;
  /** Replaces version `next.version - 1`; returns false if another write came first. May succeed and still throw. */
  put(next: T): Promise<boolean>;
}

/** A process that competes for leases. */
export interface Contender {
  readonly clock: Clock;
  /** The name of this process, which no other process ever has. */
  readonly self: string;
  /** An owner that has not written for this long, by the clock of this process, loses the lease. */
  readonly leaseMs: number;
  /** Whether an owner is known to be dead, so that its lease need not expire first. */
  readonly ownerIsGone: (owner: string) => boolean;
}

export interface LeaseOptions<T extends Leased> extends Contender {
  readonly store: LeaseStore<T>;
  /**
   * Returns the item with which to take over, given the stored one; called each time the item is read. May throw to
   * refuse.
   */
  readonly prepare: (found: T | undefined) => T | Promise<T>;
  /** Whether to take the lease at once, even from a live owner. */
  readonly force?: boolean | undefined;
  /** Whether to take a lease that is free, or to leave it to others; called each time that it is found free. */
  readonly mayTake?: (() => boolean) | undefined;
  /** How often to look whether the lease is free; by default each second, or four times a term. */
  readonly lookMs?: number | undefined;
}

/** The version of an item that a process saw last, and when it first saw it, by its own clock. */
export interface Sighting {
  version?: number;
  at?: number;
}

/** Another process has taken the lease, so this one can no longer write. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(owner: string) {
    super(`the lease is now held by ${owner === '' ? 'no process' : owner}`);
  }
}

/** A leased item, as used by the lease holder. */
export class Lease<T extends Leased> {
  readonly #options: LeaseOptions<T>;
  readonly #signal: AbortSignal;
  #current: T;
  #writes = 0;
  #writtenAt = -Infinity;
  #heldSince: Moment = { now: -Infinity, wall: -Infinity };
  /** Writes are sequential, each based on the version of the previous one. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseOptions<T>, found: T, signal: AbortSignal) {
    this.#options = options;
    this.#current = found;
    this.#signal = signal;
  }

  get current(): T {
    return this.#current;
  }

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** When the last write began, by the clock of this process. */
  get writtenAt(): number {
    return this.#writtenAt;
  }

  /**
   * Whether a write of ours was stored less than a lease ago, so that no process can have taken the lease because of
   * our silence.
   */
  holds(): boolean {
    return elapsedSince(this.#heldSince, this.#options.clock) < this.#options.leaseMs;
  }

  /**
   * Writes the result of `change` after all earlier writes; resolves once it is known to be stored. Throws LeaseLost if
   * another process has written since. A failed write is repeated until the signal is aborted.
   */
  update(change: (current: T) => T, signal = this.#signal): Promise<T> {
    const write = this.#last.then(() => this.#write(change(this.#current), signal));
    this.#last = write.catch(() => undefined);
    return write;
  }

  /**
   * The write carries its own token and is repeated unchanged until it is known to be stored or refused, because a
   * response may be lost.
   */
  async #write(changed: T, signal: AbortSignal): Promise<T> {
    const { clock, self, store } = this.#options;
    const token = this.#current.token === undefined ? {} : { token: `${self}/${(this.#writes += 1)}` };
    const next: T = { ...changed, ...token, version: this.#current.version + 1 };
    const begun = momentOf(clock);
    this.#writtenAt = begun.now;
    const put = async () => {
      if (await store.put(next)) return;
      const found = await store.load();
      // The version that the condition required will never exist again: versions only grow.
      if (!isSameWrite(found, next)) throw new LeaseLost(found?.owner ?? '');
    };
    const retryable = (error: unknown) => !(error instanceof LeaseLost);
    await retry(put, { attempts: Infinity, retryable, clock, signal });
    this.#heldSince = begun;
    this.#current = next;
    return next;
  }
}

const isSameWrite = (a: Leased | undefined, b: Leased): boolean =>
  a?.version === b.version && a.owner === b.owner && a.token === b.token;

/**
 * Whether another process seems to hold an item: it has an owner that may be alive and, as `seen` shows, which is kept
 * between calls, has written it within the term of a lease.
 */
export function isHeld({ version, owner }: Leased, seen: Sighting, contender: Contender): boolean {
  const { clock, self, leaseMs, ownerIsGone } = contender;
  const now = clock.now();
  if (seen.version !== version) Object.assign(seen, { version, at: now });
  const isSilent = now - (seen.at ?? now) >= leaseMs;
  return !(isSilent || owner === '' || owner === self || ownerIsGone(owner));
}

/**
 * Takes the lease of an item that is free. Returns undefined while another process holds it. Clocks only decide who tries;
 * versions ensure that only one succeeds.
 */
export async function tryLease<T extends Leased>(
  options: LeaseOptions<T>,
  seen: Sighting,
  signal: AbortSignal,
): Promise<Lease<T> | undefined> {
  const { self, store, prepare, force = false, mayTake } = options;
  for (;;) {
    signal.throwIfAborted();
    const found = await prepare(await store.load());
    if ((isHeld(found, seen, options) || mayTake?.() === false) && !force) return undefined;
    const lease = new Lease(options, found, signal);
    try {
      await lease.update((state) => ({ ...state, owner: self }));
      return lease;
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
    }
  }
}

/** Waits until this process has the lease. Throws the signal's reason when it is aborted. */
export async function takeLease<T extends Leased>(options: LeaseOptions<T>, signal: AbortSignal): Promise<Lease<T>> {
  const seen: Sighting = {};
  for (;;) {
    const lease = await tryLease(options, seen, signal);
    if (lease !== undefined) return lease;
    await options.clock.sleep(options.lookMs ?? Math.min(1_000, options.leaseMs / 4), signal);
  }
}

/** How to renew a lease. */
export interface Renewal<T> {
  /** Returns the item to write; by default it is unchanged. */
  readonly refresh?: (current: T) => T;
  /** Interval in milliseconds; by default a quarter of the term. */
  readonly everyMs?: number;
}

/**
 * Does work while holding a lease: renews it several times per term with the result of `refresh`, and releases it at
 * the end, so that no process has to wait for it to expire. The work's signal is aborted when `signal` is, or when
 * another process takes the lease; LeaseLost is then thrown, even if the work ended without an error.
 */
export async function whileLeased<T extends Leased, R>(
  lease: Lease<T>,
  work: (signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
  { refresh = (current) => current, everyMs = lease.leaseMs / 4 }: Renewal<T> = {},
): Promise<R> {
  const { clock } = lease;
  const session = new AbortController();
  const working = AbortSignal.any([signal, session.signal]);
  // Each write that waits for its next attempt listens; above ten listeners Node warns of a leak.
  setMaxListeners(0, working);
  let lost: unknown;
  async function renew(): Promise<void> {
    while (!working.aborted) {
      await clock.sleep(everyMs, working);
      if (!working.aborted && clock.now() - lease.writtenAt >= everyMs) await lease.update(refresh, working);
    }
  }
  const renewing = renew().catch((error: unknown) => {
    lost = error;
    session.abort(error);
  });
  try {
    const result = await work(working);
    if (lost instanceof LeaseLost) throw lost;
    return result;
  } catch (error) {
    throw lost ?? error;
  } finally {
    session.abort(new Error('the work under the lease is over'));
    await renewing;
    // One attempt, because the signal is already aborted. If it fails, the lease expires.
    await lease.update((current) => ({ ...refresh(current), owner: '' }), working).catch(() => undefined);
  }
}
