import type { SequenceRange, ShardProgress, StreamState } from '../store/cell/stream-state.js';
import { DERIVED_FORMAT } from './change.js';
import type { ListedShard } from './ports.js';

/** DynamoDB keeps records for 24 hours; an hour less allows for differing clocks and lagging listings. */
export const KEPT_MS = 23 * 3_600_000;
/**
 * A shard that has ended is remembered until none of its records is left, in case a listing omits it by mistake. AWS replaces
 * shards every four hours, and each of them takes 100 bytes of the state, which is written each second.
 */
const ENDED_KEPT_MS = 30 * 3_600_000;

/** What a reader has seen of the stream's shards, stored with the next write of the state. */
export interface ShardsSeen {
  /** When the shards were last listed, in milliseconds since 1970. */
  readonly listedAt: number;
  readonly shards: readonly ListedShard[];
  /** Shards whose last record is complete or planned. */
  readonly ended: ReadonlySet<string>;
  /** For each shard, a time: everything written before it has been read. */
  readonly since: ReadonlyMap<string, number>;
}

/** Records of the stream: of which shards, how many, and how many more dead letters there are with them. */
export interface RecordRanges {
  readonly ranges: Readonly<Record<string, SequenceRange>>;
  readonly records: number;
  readonly moreLetters: number;
}

/** The records read by a reader. */
export interface PassedRecords extends RecordRanges {
  readonly seen: ShardsSeen;
}

/** The pages built by the stream from its first record on. */
const FIRST_GENERATION = '1';

/** The first state of a consumer: all records of the stream are still to be read, and none is older than `since`. */
export function firstState(stream: string, since: number): StreamState {
  return {
    version: 0,
    token: '',
    owner: '',
    layout: DERIVED_FORMAT,
    stream,
    batch: 0,
    shards: {},
    plan: null,
    gap: null,
    deadLetters: 0,
    records: 0,
    listedAt: since,
    atEnd: false,
    endAt: null,
    pages: { generation: FIRST_GENERATION },
    summariesSince: 0,
  };
}

/**
 * The first state of a consumer whose counts and pages are still to be built. A deleted source may have had the same name,
 * and caches still have its blocks and pages, so no batch and no generation has the number of an earlier one.
 */
export function unbuiltState(stream: string, wall: number): StreamState {
  return { ...firstState(stream, wall), batch: Math.floor(wall), pages: null };
}

/** The state once all blocks include its planned batch. */
export function settled(state: StreamState): StreamState {
  if (state.plan === null) return state;
  const shards = { ...state.shards };
  for (const [id, { to }] of Object.entries(state.plan)) {
    shards[id] = { ...(shards[id] ?? { since: state.listedAt }), after: to };
  }
  return { ...state, shards, plan: null };
}

/** The state with what a reader has seen of the stream's shards; `wall` is the current time. */
export function withShardsSeen(
  state: StreamState,
  { listedAt, shards: listed, ended, since }: ShardsSeen,
  wall: number,
): StreamState {
  const shards: Record<string, ShardProgress> = {};
  const names = new Set(listed.map(({ id }) => id));
  for (const [id, progress] of Object.entries(state.shards)) {
    // A listing may omit a shard by mistake, and one forgotten too early would be read as a new one.
    const old = progress.endedAt !== undefined && wall - progress.endedAt > ENDED_KEPT_MS;
    if (!old || names.has(id)) shards[id] = progress;
  }
  for (const id of new Set([...names, ...since.keys()])) {
    const { endedAt = ended.has(id) ? wall : undefined, ...progress } = shards[id] ?? { since: 0 };
    const later = Math.max(progress.since, since.get(id) ?? state.listedAt);
    shards[id] = { ...progress, since: later, ...(endedAt === undefined ? {} : { endedAt }) };
  }
  return { ...state, shards, listedAt: Math.max(state.listedAt, listedAt) };
}

/** The state that declares the last batch complete and plans the next one. */
export function planned(state: StreamState, { ranges, records, moreLetters }: RecordRanges): StreamState {
  const before = settled(state);
  return {
    ...before,
    batch: before.batch + 1,
    plan: ranges,
    records: before.records + records,
    deadLetters: before.deadLetters + moreLetters,
    atEnd: false,
  };
}

/** A shard whose records are lost: some of them (`trimmed`), or all of them (`gone`). */
export interface Loss {
  readonly shard: string;
  readonly kind: 'trimmed' | 'gone';
}

/**
 * The state after a loss, with its reason. Counting continues with the oldest record of the shard or, if it is only
 * known that too much time has passed, where it was. An earlier gap is kept.
 */
export function withGap(state: StreamState, reason: string, wall: number, loss?: Loss): StreamState {
  // Whether the blocks include the planned batch can no longer be known, so it counts as complete.
  const before = settled(state);
  const gap = before.gap ?? { since: new Date(wall).toISOString(), reason };
  const fresh = { since: wall, ...(loss?.kind === 'gone' ? { endedAt: wall } : {}) };
  const later = Object.entries(before.shards).map(([id, progress]) => [id, { ...progress, since: wall }] as const);
  const shards = loss === undefined ? Object.fromEntries(later) : { ...before.shards, [loss.shard]: fresh };
  return { ...before, gap, shards, listedAt: loss === undefined ? wall : before.listedAt, atEnd: false };
}

/** The state in which pages get no more records. */
export function withoutPages(state: StreamState): StreamState {
  const { pages, formerPages = null, endAt } = state;
  return { ...state, pages: null, published: null, formerPages: pages ? { ...pages, endAt } : formerPages };
}

/** The state during a recount, which is a batch without records. Pages get no more records. */
export function recounting(state: StreamState, wall: number): StreamState {
  const gapped = withGap(state, 'a recount was started and has not finished', wall);
  return withoutPages({ ...gapped, batch: gapped.batch + 1 });
}

/**
 * The state for counts in another format, accepted by this version: only a recount can add what they lack. A plan in
 * progress cannot be folded as before, so its records are part of the gap. That recount also rebuilds the pages.
 */
export function upgraded(state: StreamState, wall: number): StreamState {
  const reason = `the counts had format ${state.layout} and now have ${DERIVED_FORMAT}`;
  return withoutPages({ ...withGap(state, reason, wall), layout: DERIVED_FORMAT });
}

/** The state once the table has a new stream, or none any more. */
export function moved(state: StreamState, stream: string | undefined, reason: string, wall: number): StreamState {
  const gapped = withGap(state, reason, wall);
  return stream === undefined ? gapped : { ...gapped, stream, shards: {}, listedAt: wall };
}

/**
 * Whether the stream may have trimmed records of a shard that were still to be read. Decided by their age, because not
 * every DynamoDB reports it: DynamoDB Local returns what is left.
 */
export function mayHaveLost(since: number, wall: number): boolean {
  return wall - since > KEPT_MS;
}

/** The state moved past what a reader has read, with its gap: the next reader begins after that. */
export function passedBy(
  state: StreamState,
  { ranges, seen, records, moreLetters }: PassedRecords,
  wall: number,
): StreamState {
  return settled({
    ...withShardsSeen(state, seen, wall),
    plan: ranges,
    records: state.records + records,
    deadLetters: state.deadLetters + moreLetters,
  });
}
