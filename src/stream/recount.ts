import type { Clock } from '../clock.js';
import type { CellSums } from '../geo/cell-sums.js';
import type { Keyspace } from '../keys/keyspace.js';
import type { Log } from '../log.js';
import type { CellChanges } from '../model/cell.js';
import type { BlockDelta, BlockName } from '../store/cell/blocks.js';
import { applyBatch, blockChanges } from './apply.js';
import { type Contribution, type StreamRecord, type WireImage, changeOf, contributionOf } from './change.js';
import { createFold } from './fold.js';
import type { CellsPort, StatePort, StreamPort } from './ports.js';
import { type Batch, type Reader, RecordsLost, createReader } from './reader.js';
import { type SharedState, pause, takeOwnership } from './shared-state.js';
import { broken, firstState, informed, moved, recounting, settled } from './state.js';

/** What a recount reads besides what a consumer does. */
export interface RecountPort {
  /** Every item of the table of entities that is under a marker's key, in wire format; page by page, consistent. */
  scanMarkers(): AsyncIterable<readonly WireImage[]>;
  /** The names of all blocks there are. */
  listBlocks(): AsyncIterable<readonly BlockName[]>;
  /** Writes an item that is no marker into the table of entities, and gives its keys, so that its record can be waited for. */
  writeFence(): Promise<{ readonly pk: string; readonly sk: string }>;
}

export interface RecountOptions {
  readonly stream: StreamPort;
  readonly state: StatePort;
  readonly cells: CellsPort;
  readonly tables: RecountPort;
  readonly clock: Clock;
  readonly keys: Pick<Keyspace, 'parseMarker' | 'isUnderMarker'>;
  readonly log: Log;
  readonly self: string;
  /** Only tells what differs. The gap stays, and so do the cells. */
  readonly checkOnly: boolean;
  readonly leaseMs?: number | undefined;
}

export interface RecountResult {
  readonly markers: number;
  readonly blocks: number;
  /** Blocks that were not what they had to be. */
  readonly drifted: readonly BlockName[];
}

/** Somebody's record may come after one that was made later by as much: shards do not wait for one another. */
const SETTLE_MS = 3_000;
const BLOCKS_AT_A_TIME = 100;
const LIMITS = { records: 100_000, cells: 1_000_000 };

interface CountedMarker {
  readonly scope: string;
  readonly contribution: Contribution | undefined;
}

const nameOf = ({ pk, sk }: WireImage) => `${String(pk?.['S'])}#${String(sk?.['S'])}`;

/**
 * Counts all markers anew and replaces the cells, while markers go on being written: takes the work over from whoever
 * owns it, reads every marker, then the stream up to a record that was written after the last of them. Of a marker with a
 * record in the stream its last image counts, of any other what was read. A recount that is cut short leaves a gap.
 * Counts of another layout are upgraded, which only to check them refuses with OtherLayout. Rejects with OwnershipLost where
 * another process takes the work over.
 */
export async function recount(options: RecountOptions, signal: AbortSignal): Promise<RecountResult> {
  const { stream, state: port, clock, log, self, leaseMs = 10_000 } = options;
  const first = async () => firstState(await stream.identify(), clock.wall());
  const taking = { ownerIsGone: () => false, onLook: () => undefined, force: true, upgrade: !options.checkOnly };
  const lease = { port, clock, self, leaseMs, first, ...taking };
  const shared = await takeOwnership(lease, signal);
  const session = new AbortController();
  const stop = () => session.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const beating = beat(shared, clock, leaseMs, session.signal).catch((error: unknown) => session.abort(error));
  try {
    return await count(options, shared, session.signal);
  } finally {
    session.abort(new Error('the recount is over'));
    signal.removeEventListener('abort', stop);
    await beating;
    await shared
      .update((state) => ({ ...state, owner: '' }))
      .catch((err: unknown) => {
        log.warn({ err }, 'the work could not be handed back and will be taken over');
      });
  }
}

async function beat(shared: SharedState, clock: Clock, leaseMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(leaseMs / 4, signal);
    if (!signal.aborted) await shared.update((state) => state);
  }
}

async function count(options: RecountOptions, shared: SharedState, signal: AbortSignal): Promise<RecountResult> {
  const { stream, cells, tables, clock, keys, log, checkOnly } = options;
  const applying = { port: cells, clock, signal, log, holds: () => shared.holds() };
  const last = new Map<string, CountedMarker>();
  let fence: string | undefined;
  let fenceSeen = false;
  const newReader = (): Reader =>
    createReader({ port: stream, clock, keys, pollMs: 200, signal, onRecord: remember }, shared.current());

  function remember(record: StreamRecord): void {
    const name = nameOf(record.keys);
    if (name === fence) fenceSeen = true;
    const change = changeOf(keys, record);
    if (change?.scope !== undefined) last.set(name, { scope: change.scope, contribution: change.after });
  }

  const identity = await stream.identify();
  if (identity !== shared.current().stream) await shared.update((state) => moved(state, identity, clock.wall()));
  // The blocks of a plan under way have to hold it: nobody may find one without it later, and add it to what we wrote.
  const { plan, batch: underWay } = shared.current();
  if (plan !== null) {
    try {
      const { changes, deadLetters } = await newReader().replay(plan);
      if (deadLetters.length > 0) await options.state.putDeadLetters(deadLetters);
      await applyBatch(applying, underWay, changes);
      await shared.update(settled);
    } catch (error) {
      if (!(error instanceof RecordsLost)) throw error;
      await shared.update((state) => broken(state, error.message, clock.wall(), error.loss));
    }
  }
  if (!checkOnly) await shared.update((state) => recounting(state, clock.wall()));
  const { batch } = shared.current();

  const markers = new Map<string, CountedMarker>();
  for await (const page of tables.scanMarkers()) {
    signal.throwIfAborted();
    for (const image of page) {
      const record = { sequence: '0', event: '', at: 0, keys: image, before: undefined, after: image };
      const scope = changeOf(keys, record)?.scope;
      const contribution = contributionOf(image);
      if (scope !== undefined && typeof contribution !== 'string') markers.set(nameOf(image), { scope, contribution });
    }
  }
  await clock.sleep(SETTLE_MS, signal);
  const written = await tables.writeFence();
  fence = `${written.pk}#${written.sk}`;

  // What changed since the scan began, and all before that the cells did not have yet.
  let reader = newReader();
  let gathered: Batch | undefined;
  for (;;) {
    signal.throwIfAborted();
    try {
      gathered = await reader.gather(LIMITS, () => false);
    } catch (error) {
      if (!(error instanceof RecordsLost)) throw error;
      // What was lost before the scan is in what was scanned.
      await shared.update((state) => broken(state, error.message, clock.wall(), error.loss));
      reader = newReader();
      continue;
    }
    const { ranges, knowledge, records, deadLetters } = gathered;
    if (deadLetters.length > 0) await options.state.putDeadLetters(deadLetters);
    if (!checkOnly) {
      // The state moves on with its gap, so that whoever takes over does not count these on top of ours.
      await shared.update((state) =>
        settled({
          ...informed(state, knowledge, clock.wall()),
          plan: ranges,
          records: state.records + records,
          setAside: state.setAside + deadLetters.length,
        }),
      );
    }
    if (fenceSeen && gathered.endAt !== undefined) break;
    await pause(clock, 0, signal);
  }

  const fold = createFold();
  for (const [name, place] of last) markers.set(name, place);
  let counted = 0;
  for (const { scope, contribution } of markers.values()) {
    if (contribution === undefined) continue;
    fold.add(scope, contribution, 1);
    counted += 1;
  }
  const result = await replaceAll(options, fold.changes(), batch, shared, signal);
  if (!checkOnly) await shared.update((state) => ({ ...state, gap: null }));
  return { ...result, markers: counted };
}

/** Brings every block to what was counted, and to the recount's batch, those without markers too. */
async function replaceAll(
  { cells, tables, clock, checkOnly }: RecountOptions,
  counted: CellChanges,
  batch: number,
  shared: Pick<SharedState, 'holds'>,
  signal: AbortSignal,
): Promise<Omit<RecountResult, 'markers'>> {
  const wanted = new Map<string, BlockDelta>();
  for await (const page of tables.listBlocks()) {
    for (const { scope, parent } of page) wanted.set(`${scope}/${parent}`, { scope, parent, deltas: new Map() });
  }
  for (const block of blockChanges(counted)) wanted.set(`${block.scope}/${block.parent}`, block);
  const blocks = [...wanted.values()];
  const drifted = new Map<string, BlockName>();
  for (let index = 0; index < blocks.length; index += BLOCKS_AT_A_TIME) {
    let left = blocks.slice(index, index + BLOCKS_AT_A_TIME);
    for (let attempt = 0; left.length > 0; attempt += 1) {
      signal.throwIfAborted();
      if (attempt > 0) await pause(clock, attempt, signal);
      const stored = await cells.read(left, true);
      const writes = left.flatMap(({ scope, parent, deltas }, place) => {
        const { batch: seen, children } = stored[place] ?? { batch: undefined, children: new Map<string, CellSums>() };
        const zeros = [...children.keys()].map((child) => [child, { count: 0, sumLng: 0, sumLat: 0 }] as const);
        const figures = new Map<string, CellSums>([...zeros, ...deltas]);
        const differs = [...figures].some(([child, { count, sumLng, sumLat }]) => {
          const found = children.get(child);
          return (found?.count ?? 0) !== count || (found?.sumLng ?? 0) !== sumLng || (found?.sumLat ?? 0) !== sumLat;
        });
        if ((seen ?? 0) < batch || checkOnly) {
          if (differs) drifted.set(`${scope}/${parent}`, { scope, parent });
          return [{ scope, parent, deltas, write: { scope, parent, seen, batch, children: figures } }];
        }
        return [];
      });
      if (checkOnly) break;
      if (!shared.holds()) continue;
      const outcomes = writes.length === 0 ? [] : await cells.write(writes.map(({ write }) => write));
      left = writes.filter((_, place) => outcomes[place] !== 'written');
    }
  }
  return { blocks: blocks.length, drifted: [...drifted.values()] };
}
