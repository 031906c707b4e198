import { CellportError } from '../../errors.js';
import type { StreamGap, StreamState } from '../../store/cell/stream-state.js';
import { takeLease, type Contender, type Lease } from '../../store/lease.js';
import { DERIVED_FORMAT } from '../change.js';
import type { StatePort } from '../ports.js';
import { StreamReplaced } from '../source/record-batches.js';
import { firstState, moved, upgraded } from '../state.js';

/** The cells were written by another version of this program, whose batches this one cannot continue. */
export class OtherFormat extends CellportError {
  override readonly name = 'OtherFormat';

  constructor(format: string) {
    super(
      'UNAVAILABLE',
      format === FORMAT_OF_RECORDS
        ? 'an AWS Lambda function maintains the cells; set CELLPORT_CONSUMER=off, or see docs/stream.md for how to hand them over'
        : `the derived table has format ${format}, but this version of Cellport needs ${DERIVED_FORMAT}: run \`cellport recount\`, or ` +
            'start the version that wrote them',
    );
  }
}

/**
 * The format of cells that an AWS Lambda function maintains record by record: no server's consumer may write to them.
 */
const FORMAT_OF_RECORDS = `${DERIVED_FORMAT} by records`;

/**
 * Ensures that the cells are maintained record by record, and by no server, from their first record on. `wall` is the
 * current time. Throws OtherFormat if a server's consumer maintains them.
 */
export async function claimForRecords(port: StatePort, wall: number): Promise<void> {
  const first = { ...firstState('', wall), layout: FORMAT_OF_RECORDS, version: 1, pages: null, summariesSince: null };
  for (;;) {
    const found = (await port.load()) ?? ((await port.put(first)) ? first : await port.load());
    if (found?.layout !== FORMAT_OF_RECORDS) throw new OtherFormat(found?.layout ?? 'unknown');
    // A server that hands over the cells leaves pages behind, which get no more records.
    if (found.pages === null || (await port.put({ ...found, pages: null, version: found.version + 1 }))) return;
  }
}

/**
 * Stores the stream that records come from, while an AWS Lambda function maintains the cells. Returns the gap that a
 * new stream leaves: writes between the two are in neither. Records of the former one may still arrive, and change
 * nothing.
 */
export async function noteStream(port: StatePort, stream: string, wall: number): Promise<StreamGap | null> {
  for (;;) {
    const state = await port.load();
    if (state === undefined) return null;
    const { stream: before } = state;
    // Stream names end with the time at which the stream was enabled.
    if (before >= stream) return before === stream ? state.gap : null;
    const { message } = new StreamReplaced(before, stream);
    const next = before === '' ? { ...state, stream } : moved(state, stream, message, wall);
    if (await port.put({ ...next, version: state.version + 1 })) return next.gap;
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
  /** Whether to take over at once, even from a live owner. */
  readonly force?: boolean | undefined;
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
