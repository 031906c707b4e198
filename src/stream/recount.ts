import type { Clock } from '../clock.js';
import { type CellSums, NO_SUMS } from '../geo/cell-sums.js';
import type { Log } from '../log.js';
import type { CellChanges } from '../model/cell.js';
import type { BlockDelta, BlockName, BlockWrite, StoredBlock } from '../store/cell/blocks.js';
import type { StreamState } from '../store/cell/stream-state.js';
import { type Lease, whileLeased } from '../store/lease.js';
import { type ApplyOptions, blockChanges, writeBlocks } from './apply.js';
import { type Contribution, type StreamRecord, type WireImage, changeOf, contributionOf } from './change.js';
import { createFold } from './fold.js';
import { takeOwnership } from './ownership.js';
import type { CellsPort, StatePort, StreamPort } from './ports.js';
import { type Batch, StreamReader } from './reader.js';
import type { RecordKeys } from './record-fold.js';
import { firstState, recounting, settled, withShardsSeen } from './state.js';
import { applyFolded, finishPlan, noteLoss, noteSwitch } from './takeover.js';

/** What a recount reads besides what a consumer does. */
export interface RecountPort {
  /** Every item under a marker's key in the table of entities, in wire format; page by page, consistent. */
  scanMarkers(): AsyncIterable<readonly WireImage[]>;
  /** The names of all blocks there are. */
  listBlocks(): AsyncIterable<readonly BlockName[]>;
  /** Writes an item that is not a marker into the table of entities, to wait for its record. Returns its keys. */
  writeFence(): Promise<{ readonly pk: string; readonly sk: string }>;
}

export interface RecountOptions {
  readonly stream: StreamPort;
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly tables: RecountPort;
  readonly clock: Clock;
  readonly keys: RecordKeys;
  readonly log: Log;
  readonly self: string;
  /** Only reports what differs. A gap stays, and so do the cells. */
  readonly checkOnly: boolean;
  readonly leaseMs?: number | undefined;
}

export interface RecountResult {
  readonly markers: number;
  readonly blocks: number;
  /** Blocks that differed from the markers. */
  readonly drifted: readonly BlockName[];
}

/** A record may come after one that was made later by as much, because shards do not wait for one another. */
const SETTLE_MS = 3_000;
const POLL_MS = 200;
const LIMITS = { records: 100_000, cells: 1_000_000 };

interface CountedMarker {
  readonly scope: string;
  /** Undefined if the marker was deleted. */
  readonly contribution: Contribution | undefined;
}

const nameOf = ({ pk, sk }: WireImage) => `${String(pk?.['S'])}#${String(sk?.['S'])}`;

/**
 * Counts all markers and replaces the cells, while markers are being written: takes the work over from its owner, reads
 * every marker, then the stream up to a record that was written after the last of them. A marker with a record in the
 * stream counts as its last image says, any other as it was read. A recount that is interrupted leaves a gap. Counts of
 * another layout are upgraded, unless they are only to be checked: then OtherLayout is thrown. Rejects with LeaseLost if
 * another process takes the work over, with NoStream if the table has no stream, and with StreamReplaced if it gets another
 * one meanwhile.
 */
export async function recount(options: RecountOptions, signal: AbortSignal): Promise<RecountResult> {
  const { stream, clock, leaseMs = 10_000 } = options;
  // Without a stream nothing can be recounted: the owner keeps the work then.
  const identity = await stream.identify();
  const first = () => Promise.resolve(firstState(identity, clock.wall()));
  const taking = { first, leaseMs, ownerIsGone: () => false, force: true, upgrade: !options.checkOnly };
  const lease = await takeOwnership({ ...options, ...taking }, signal);
  return whileLeased(lease, (working) => new Recount(options, lease, working).run(), signal);
}

class Recount {
  readonly #options: RecountOptions;
  readonly #lease: Lease<StreamState>;
  readonly #signal: AbortSignal;
  /** The last image of each marker that has a record in the stream. */
  readonly #changed = new Map<string, CountedMarker>();
  #fence: string | undefined;
  #fenceSeen = false;

  constructor(options: RecountOptions, lease: Lease<StreamState>, signal: AbortSignal) {
    this.#options = options;
    this.#lease = lease;
    this.#signal = signal;
  }

  async run(): Promise<RecountResult> {
    const { stream, tables, clock, checkOnly } = this.#options;
    await noteSwitch(this.#lease, await stream.identify());
    await this.#finishPlan();
    if (!checkOnly) await this.#lease.update((state) => recounting(state, clock.wall()));
    const { batch } = this.#lease.current;

    const markers = await this.#scan();
    await clock.sleep(SETTLE_MS, this.#signal);
    const { pk, sk } = await tables.writeFence();
    this.#fence = `${pk}#${sk}`;
    await this.#readToFence();

    for (const [name, marker] of this.#changed) markers.set(name, marker);
    const fold = createFold();
    let counted = 0;
    for (const { scope, contribution } of markers.values()) {
      if (contribution === undefined) continue;
      fold.add(scope, contribution, 1);
      counted += 1;
    }
    const result = await this.#replaceAll(fold.changes(), batch);
    if (!checkOnly) await this.#lease.update((state) => ({ ...state, gap: null }));
    return { ...result, markers: counted };
  }

  #newReader(): StreamReader {
    const onRecord = (record: StreamRecord) => this.#remember(record);
    const options = { ...this.#options, port: this.#options.stream, pollMs: POLL_MS, signal: this.#signal, onRecord };
    return new StreamReader(options, this.#lease.current);
  }

  #remember(record: StreamRecord): void {
    const name = nameOf(record.keys);
    if (name === this.#fence) this.#fenceSeen = true;
    const change = changeOf(this.#options.keys, record);
    if (change?.scope !== undefined) this.#changed.set(name, { scope: change.scope, contribution: change.after });
  }

  async #finishPlan(): Promise<void> {
    const applying = { ...this.#applying(), state: this.#options.state };
    try {
      await finishPlan(this.#lease, this.#newReader(), (batch, folded) => applyFolded(applying, batch, folded));
      if (this.#lease.current.plan !== null) await this.#lease.update(settled);
    } catch (error) {
      await noteLoss(this.#lease, error);
    }
  }

  /** All markers as they are read, by the names of their items. */
  async #scan(): Promise<Map<string, CountedMarker>> {
    const { tables, keys } = this.#options;
    const markers = new Map<string, CountedMarker>();
    for await (const page of tables.scanMarkers()) {
      this.#signal.throwIfAborted();
      for (const image of page) {
        const record = { sequence: '0', event: '', at: 0, keys: image, before: undefined, after: image };
        const scope = changeOf(keys, record)?.scope;
        const contribution = contributionOf(image);
        if (scope !== undefined && typeof contribution !== 'string') {
          markers.set(nameOf(image), { scope, contribution });
        }
      }
    }
    return markers;
  }

  /** Reads what changed since the scan began, and everything before that the cells did not have yet. */
  async #readToFence(): Promise<void> {
    const { state, clock } = this.#options;
    const signal = this.#signal;
    let reader = this.#newReader();
    for (;;) {
      signal.throwIfAborted();
      let batch: Batch;
      try {
        batch = await reader.gather(LIMITS, () => false);
      } catch (error) {
        // Records lost before the scan are included in the scan.
        await noteLoss(this.#lease, error);
        reader = this.#newReader();
        continue;
      }
      if (batch.deadLetters.length > 0) await state.putDeadLetters(batch.deadLetters);
      if (!this.#options.checkOnly) await this.#lease.update((now) => passedBy(now, batch, clock.wall()));
      if (this.#fenceSeen && batch.endAt !== undefined) return;
      await clock.sleep(POLL_MS, signal);
    }
  }

  /** Brings every block to what was counted and to the recount's batch, those without markers too. */
  async #replaceAll(counted: CellChanges, batch: number): Promise<Omit<RecountResult, 'markers'>> {
    const wanted = new Map<string, BlockDelta>();
    const { tables, checkOnly } = this.#options;
    for await (const page of tables.listBlocks()) {
      for (const { scope, parent } of page) wanted.set(`${scope}/${parent}`, { scope, parent, deltas: new Map() });
    }
    for (const block of blockChanges(counted)) wanted.set(`${block.scope}/${block.parent}`, block);
    const drifted = new Map<string, BlockName>();
    const replace = (block: BlockDelta, found: StoredBlock): BlockWrite | undefined => {
      if ((found.batch ?? 0) >= batch && !checkOnly) return undefined;
      const write = replacementOf(block, found, batch);
      const { scope, parent } = block;
      if (differs(write, found)) drifted.set(`${scope}/${parent}`, { scope, parent });
      return checkOnly ? undefined : write;
    };
    await writeBlocks({ ...this.#applying(), consistent: true }, [...wanted.values()], replace);
    return { blocks: wanted.size, drifted: [...drifted.values()] };
  }

  #applying(): ApplyOptions {
    const { cells: port, clock, log } = this.#options;
    return { port, clock, signal: this.#signal, log, holds: () => this.#lease.holds() };
  }
}

/** The state moved past a batch, with its gap, so that the next owner does not add its records to what was counted. */
function passedBy(state: StreamState, { ranges, seen, records, deadLetters }: Batch, wall: number): StreamState {
  return settled({
    ...withShardsSeen(state, seen, wall),
    plan: ranges,
    records: state.records + records,
    setAside: state.setAside + deadLetters.length,
  });
}

/** The write that leaves a block with what was counted and nothing else. */
function replacementOf({ scope, parent, deltas }: BlockDelta, found: StoredBlock, batch: number): BlockWrite {
  const zeros = [...found.children.keys()].map((child): [string, CellSums] => [child, NO_SUMS]);
  return { scope, parent, seen: found.batch, batch, children: new Map([...zeros, ...deltas]) };
}

const differs = (write: BlockWrite, { children }: StoredBlock): boolean =>
  [...write.children].some(([child, { count, sumLng, sumLat }]) => {
    const found = children.get(child) ?? NO_SUMS;
    return found.count !== count || found.sumLng !== sumLng || found.sumLat !== sumLat;
  });
