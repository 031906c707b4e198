import { setImmediate } from 'node:timers/promises';

import type { MarkerDay } from '../../keys/derived-keyspace.js';
import type { Keyspace } from '../../keys/keyspace.js';
import type { BlockDelta, BlockName } from '../../store/cell/blocks.js';
import type { StreamState } from '../../store/cell/stream-state.js';
import { blockChanges } from '../cells/apply.js';
import { CellFold } from '../cells/fold.js';
import { contributionAt, markerNamed, type WireImage } from '../change.js';
import type { SessionParts } from '../consume/session-options.js';
import type { DaysOptions } from '../days/apply.js';
import type { PagesOptions } from '../pages/kept-pages.js';
import type { LeasedWork } from '../ports.js';
import type { ComparedBlocks } from './cells.js';
import type { Contest } from './contest.js';
import type { RecountDays, RecountedDays } from './days.js';
import type { HeldMarkers, HeldPartition } from './held-markers.js';
import type { CheckedPages, PageItem, PartitionEntries, RecountPages } from './pages.js';

/** A server answers requests in between. */
const COUNTED_AT_A_TIME = 1_000;

/** What there is in the derived table. */
export interface DerivedItems {
  readonly blocks: readonly BlockName[];
  readonly pages: readonly PageItem[];
  /** Days with summaries of readings. */
  readonly days: readonly MarkerDay[];
}

/** What a recount reads besides what a consumer does. */
export interface RecountPort {
  /** Every marker and reading, in wire format; page by page, consistent. */
  scanMarkers(): AsyncIterable<readonly WireImage[]>;
  /** Whether records from before `scanMarkers` tell nothing that it does not yield. */
  readonly skipsOld?: boolean;
  /** The names of all blocks, all items of pages, and all days with summaries of readings. */
  listDerived(): AsyncIterable<DerivedItems>;
  /** The scopes whose items are not those of this consumer. Called after `listDerived`: scopes are older than their items. */
  listOthers(): Promise<ReadonlySet<string>>;
  /**
   * Writes an item that is not a marker into the table of entities, to wait for its record. Returns its keys. Omitted for a
   * table of others, where nothing may be written.
   */
  writeFence?(): Promise<{ readonly pk: string; readonly sk: string }>;
  readonly pages: RecountPages;
  /** Called once everything is built, before it takes the place of what there was. Returns what the state has to say then. */
  built?(): Promise<Partial<StreamState>>;
  /** The items of a source that `scanMarkers` finds, but does not yield, since several may be the same marker. */
  readonly contest?: Contest;
}

export interface RecountOptions extends Omit<SessionParts, 'onRecord'> {
  readonly pages: PagesOptions;
  readonly days: DaysOptions;
  readonly tables: RecountPort;
  readonly self: string;
  /** Whether to write nothing and take no lease, and only report what differs. */
  readonly checkOnly: boolean;
  readonly leaseMs?: number | undefined;
}

export interface RecountResult extends ComparedBlocks, CheckedPages, RecountedDays {
  readonly markers: number;
  /** Blocks and pages that changed each time they were to be compared. */
  readonly undecided: number;
}

/** What a recount collects. */
interface Collecting {
  readonly markers: HeldMarkers;
  readonly days: RecountDays;
  readonly signal: AbortSignal;
}

/** Reads every marker and reading. */
export async function scanMarkers(
  { tables, keys }: RecountOptions,
  { markers, days, signal }: Collecting,
): Promise<void> {
  for await (const page of tables.scanMarkers()) {
    signal.throwIfAborted();
    addMarkers(keys, markers, page);
    await days.addItems(page);
  }
}

function addMarkers(keys: Keyspace, markers: HeldMarkers, page: readonly WireImage[]): void {
  for (const image of page) {
    const marker = markerNamed(keys, image);
    if (marker) markers.add(marker.scope, image);
  }
}

/** Decides which items are markers, where several may be, as of a batch. */
export async function addDecided(
  { tables, keys }: RecountOptions,
  markers: HeldMarkers,
  work: LeasedWork,
  batch: number,
): Promise<void> {
  for await (const page of tables.contest?.images(work, batch) ?? []) addMarkers(keys, markers, page);
}

export type ListedItems = Pick<DerivedItems, 'blocks' | 'pages'>;

/** Lists all blocks and pages. */
export async function listDerived(
  { tables }: RecountOptions,
  { gap, summariesSince }: StreamState,
  { days, signal }: Collecting,
): Promise<ListedItems> {
  const blocks: BlockName[] = [];
  const pages: PageItem[] = [];
  const inexactSince = summariesSince === 0 ? Date.parse(gap?.since ?? '') : -Infinity;
  for await (const some of tables.listDerived()) {
    signal.throwIfAborted();
    blocks.push(...some.blocks);
    pages.push(...some.pages);
    await days.addStored(some.days, inexactSince);
  }
  const others = await tables.listOthers();
  const isOwn = ({ scope }: { readonly scope: string }) => !others.has(scope);
  return { blocks: blocks.filter(isOwn), pages: pages.filter(isOwn) };
}

/**
 * The markers by partition, and how many they were. Calls `onCounted` with the blocks of each partition as it is taken,
 * at last with those of which several partitions have a part.
 */
export function counting(held: AsyncIterable<HeldPartition>, onCounted: (blocks: readonly BlockDelta[]) => void) {
  let markers = 0;
  async function* counted(): AsyncGenerator<PartitionEntries> {
    const shared = new CellFold();
    for await (const { scope, partition, markers: some } of held) {
      const own = new CellFold();
      for (const [index, { entry, place, bytes }] of some.entries()) {
        if (index % COUNTED_AT_A_TIME === 0) await setImmediate();
        const { lng, lat } = entry.marker.position;
        const contribution = contributionAt(lng, lat, place, bytes);
        own.add(scope, { ...contribution, place: [] }, 1);
        shared.add(scope, { ...contribution, cell: partition }, 1);
      }
      onCounted(blockChanges(own.changes()).filter(({ parent }) => parent !== ''));
      markers += some.length;
      yield { scope, partition, entries: some.map(({ entry }) => entry) };
    }
    onCounted(blockChanges(shared.changes()));
  }
  return { partitions: counted(), count: () => markers };
}
