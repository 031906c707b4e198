import { CellportError } from '../../errors.js';
import { areaContains, areaOverlapsCell, normalizeBounds, type Area } from '../../geo/bounds.js';
import { cellBounds, GEOHASH_ALPHABET, LONGEST_Z, toZ } from '../../geo/geohash.js';
import type { Collection } from '../../model/collection.js';
import type { KeyRange } from '../../model/key-range.js';
import type { Marker } from '../../model/marker.js';
import { spreadOf } from '../../model/spread.js';
import { rangeKeys } from '../../plan/explain.js';
import { coverForPlan, planMarkers, type PlannedRange } from '../../plan/markers.js';
import { hasFewPartitions, type PartitionPrefixes } from '../../store/cell/partition-prefixes.js';
import { getCollections } from '../../store/collection/collections.js';
import type { Call, Item } from '../../store/database.js';
import { walkPages, type WalkedPages } from '../../store/page/walk-pages.js';
import { mapAhead, retryInBackground } from '../../store/request/pacing.js';
import { markersByKey } from '../../store/source/source-markers.js';
import { queryResponse } from '../../store/table/query-responses.js';

/** Number of ranges queried concurrently, because most partitions are empty or small. */
const RANGES_AHEAD = 8;
const FEW_RANGES = 64;
const ENTRIES_A_RESPONSE = 500;
/** The limit of BatchGetItem. */
const MARKERS_A_BATCH = 100;
const BATCHES_AHEAD = 3;
const WORLD = normalizeBounds('bounds', { west: -180, south: -90, east: 180, north: 90 });

export interface ExportJob {
  readonly collection: Collection;
  /** Exports only what is inside it, crosses it or touches its edge; everything by default. */
  readonly area?: Area | undefined;
  readonly call: Call;
}

export interface MarkersJob extends ExportJob {
  /** The prefixes that may have markers. Default: all, which is possible only if there are few. */
  readonly prefixes?: PartitionPrefixes | undefined;
  /** Where the markers are found of a collection without a geo index. */
  readonly pages?: ExportedPages | undefined;
  /** Called with the fraction of key ranges completed, 0 to 1. */
  readonly onPart?: ((part: number) => void) | undefined;
}

/** The pages of a collection. */
export interface ExportedPages extends Pick<WalkedPages, 'generation'> {
  /** Keys of markers with changes that the pages may lack. */
  readonly recent: ReadonlySet<string>;
}

interface PartRange extends KeyRange {
  /** The fraction of all ranges completed after this one. */
  readonly part: number;
}

function planOf({ prefixLength }: Collection, area: Area = WORLD): readonly PlannedRange[] {
  return planMarkers({ cover: coverForPlan(area), prefixLength, ceiling: Infinity }).ranges;
}

/** Whether an export queries so few key ranges that finding out which are empty would cost more. */
export function hasFewRanges(collection: Collection, area: Area | undefined): boolean {
  return hasFewPartitions(collection) && planOf(collection, area).length * collection.writeShards <= FEW_RANGES;
}

function* rangesOf({ call, collection, area = WORLD, prefixes }: MarkersJob): Generator<PartRange> {
  const { prefixLength } = collection;
  if (prefixes === undefined || hasFewPartitions(collection)) {
    const ranges = planOf(collection, area).filter(({ prefix }) => prefixes?.has(prefix) ?? true);
    for (const [at, range] of ranges.entries()) yield* partRanges(range, (at + 1) / ranges.length);
    return;
  }
  const size = 32 ** (LONGEST_Z - prefixLength);
  for (const { number, prefix } of prefixes.list(0)) {
    if (!areaOverlapsCell(area, cellBounds(prefix))) continue;
    const from = toZ(prefix) * size;
    yield* partRanges({ prefix, from, to: from + size }, (number + 1) / prefixes.total);
  }

  function* partRanges(range: PlannedRange, part: number): Generator<PartRange> {
    for (const keyRange of rangeKeys(range, collection, call.db.keys)) yield { ...keyRange, part };
  }
}

/** Marker keys in a range, from one response. */
async function readKeys({ call }: MarkersJob, range: PartRange, after?: Item) {
  const some = { ...range, limit: ENTRIES_A_RESPONSE, attributes: ['pk', 'sk'] };
  const read = () => queryResponse(call, some, after);
  const { Items = [], LastEvaluatedKey: next } = await retryInBackground(read, call.signal);
  const names = Items.flatMap(({ pk, sk }) => call.db.keys.parseMarker({ pk: String(pk), sk: String(sk) })?.key ?? []);
  return { range, keys: names, next };
}

/** Keys of all markers, from each response. */
async function* keysInIndex(job: MarkersJob): AsyncGenerator<readonly string[]> {
  for await (const first of mapAhead(rangesOf(job), RANGES_AHEAD, (range) => readKeys(job, range))) {
    for (let some = first; ; some = await readKeys(job, some.range, some.next)) {
      yield some.keys;
      if (some.next === undefined) break;
    }
    job.onPart?.(first.range.part);
  }
}

/** The same from pages. */
async function* keysOnPages(job: MarkersJob, { generation, recent }: ExportedPages): AsyncGenerator<readonly string[]> {
  const { collection, area = WORLD, call, onPart } = job;
  const partitions = Array.from(GEOHASH_ALPHABET).filter((partition) => areaOverlapsCell(area, cellBounds(partition)));
  const walked = { scope: call.db.keys.scope(collection), generation, partitions };
  for await (const { markers, part } of walkPages(call, walked)) {
    yield markers.flatMap(({ key, position }) => (recent.has(key) || !areaContains(area, position) ? [] : key));
    onPart?.(part);
  }
  yield [...recent];
}

/** Keys of all markers, in batches as they are read. */
async function* readAllKeys(job: MarkersJob): AsyncGenerator<readonly string[]> {
  let held: string[] = [];
  for await (const some of job.pages ? keysOnPages(job, job.pages) : keysInIndex(job)) {
    held.push(...some);
    for (; held.length >= MARKERS_A_BATCH; held = held.slice(MARKERS_A_BATCH)) yield held.slice(0, MARKERS_A_BATCH);
  }
  if (held.length > 0) yield held;
}

/** Throws CONFLICT if the collection was deleted or its layout changed. */
export async function checkStillThere({ collection, call }: ExportJob): Promise<void> {
  const [now] = await retryInBackground(
    () => getCollections(call, [collection.key], { consistent: true }),
    call.signal,
  );
  const same =
    now?.createdAt === collection.createdAt &&
    now.prefixLength === collection.prefixLength &&
    now.writeShards === collection.writeShards &&
    now.geoSlot === collection.geoSlot &&
    // Markers move only into partitions of which this export has known.
    (now.spread ?? []).every(({ prefix, phase }) => phase === 'GATHER' || spreadOf(collection, prefix) !== undefined);
  if (same) return;
  const { key } = collection;
  throw new CellportError('CONFLICT', `the collection ${key} was deleted or repartitioned during the export`, {
    collection: key,
  });
}

/**
 * Yields all markers of a collection in batches, ordered by partition of the geo index, geohash and key; from pages, those
 * with recent changes come last. Keys are read with Query calls, markers from their base items. Memory is bounded: at most
 * a few batches are read ahead of a slow consumer. A marker that exists throughout and does not move is returned exactly
 * once; one that moves may be returned twice or not at all. Throttled reads are retried. Throws CONFLICT at the end if the
 * collection was deleted meanwhile, because markers may be missing.
 */
export async function* readMarkers(job: MarkersJob): AsyncGenerator<readonly Marker[]> {
  const { collection, area = WORLD, call } = job;
  const read = async (keys: readonly string[]): Promise<Marker[]> => {
    const references = keys.map((key) => ({ collection, key }));
    const markers = await retryInBackground(() => markersByKey(call, references), call.signal);
    return markers.filter((marker) => marker !== null).filter(({ position }) => areaContains(area, position));
  };
  for await (const markers of mapAhead(readAllKeys(job), BATCHES_AHEAD, read)) {
    if (markers.length > 0) yield markers;
  }
  await checkStillThere(job);
}
