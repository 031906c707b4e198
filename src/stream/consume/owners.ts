import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { CellportError } from '../../errors.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { takeLease, type Contender, type Lease } from '../../store/lease.js';
import { DERIVED_FORMAT } from '../change.js';
import type { StatePort } from '../ports.js';
import { upgraded } from '../state.js';

/** The text of a small system file; empty if it does not exist (systems other than Linux). */
function textOrEmpty(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}

/**
 * Identifies the scope in which process IDs are unique: the machine since its last boot, and the container on it. Only
 * within one scope does an unused process ID mean that its process is dead.
 */
function processSpace(): string {
  return [
    hostname(),
    textOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    textOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
  ].join(',');
}

/** A name for this process that no other owner will ever have. */
export function ownName(): string {
  return [processSpace(), process.pid, randomUUID(), ownRelease()].join('/');
}

/** The release of this process; empty in the function for AWS Lambda, which is one file. */
export function ownRelease(): string {
  const text = textOrEmpty(() => readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return text === '' ? '' : (JSON.parse(text) as { readonly version: string }).version;
}

/** Where the process with this name runs, and of which release it is; undefined for those that did not say. */
export function placeOf(owner: string): { readonly host: string; readonly pid: string; readonly release?: string } {
  const [space = '', pid = '', _id, release] = owner.split('/');
  return { host: space.split(',')[0] ?? '', pid, ...(release ? { release } : {}) };
}

/** Whether the process with this name is known to be dead: it ran on this machine, and no longer does. */
export function ownerIsGone(owner: string): boolean {
  const [space, pid] = owner.split('/');
  if (space !== processSpace() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The cells were written by another version of this program, whose batches this one cannot continue. */
export class OtherFormat extends CellportError {
  override readonly name = 'OtherFormat';

  constructor(format: string) {
    super(
      'UNAVAILABLE',
      `the derived table has format ${format}, but this version of Cellport needs ${DERIVED_FORMAT}: run \`cellport recount\`, or ` +
        'start the version that wrote them',
    );
  }
}

interface OwnershipOptions extends Contender {
  readonly state: StatePort;
  /** The state before the first start. */
  readonly first: () => Promise<StreamState>;
  /** Called with the state each time it is read. */
  readonly onLook?: ((state: StreamState) => void) | undefined;
  /** Whether to accept counts in another format, with a gap; otherwise they are rejected. */
  readonly upgrade?: boolean | undefined;
  /** See `LeaseOptions`. */
  readonly force?: boolean | undefined;
  readonly mayTake?: (() => boolean) | undefined;
  readonly lookMs?: number | undefined;
}

/**
 * Waits until this process owns the work. Throws OtherFormat if the cells have another format and should not be
 * upgraded, and the signal's reason when it is aborted.
 */
export function takeOwnership(options: OwnershipOptions, signal: AbortSignal): Promise<Lease<StreamState>> {
  const { state: store, clock, first, onLook, upgrade } = options;
  const prepare = async (found: StreamState | undefined): Promise<StreamState> => {
    const state = found ?? (await first());
    if (state.layout !== DERIVED_FORMAT && upgrade !== true) throw new OtherFormat(state.layout);
    const usable = state.layout === DERIVED_FORMAT ? state : upgraded(state, clock.wall());
    onLook?.(usable);
    return { ...usable, atEnd: false };
  };
  return takeLease({ ...options, store, prepare }, signal);
}
