import { CellportError } from '../../errors.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { takeLease, type Contender, type Lease } from '../../store/lease.js';
import { DERIVED_FORMAT } from '../change.js';
import type { StatePort } from '../ports.js';
import { upgraded } from '../state.js';

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

export interface OwnershipOptions extends Contender {
  readonly state: StatePort;
  /** The state before the first start. */
  readonly first: () => Promise<StreamState>;
  /** Called with the state each time it is read. */
  readonly onLook?: ((state: StreamState) => void) | undefined;
  /** Whether to accept counts in another format, with a gap; otherwise they are rejected. */
  readonly upgrade?: boolean | undefined;
  /** See `LeaseOptions`. */
  readonly force?: boolean | undefined;
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
