import { fromZ, LONGEST_Z, toZ } from '../../geo/geohash.js';
import { compareBytes } from '../../keys/byte-order.js';
import { AFTER_SEPARATOR } from '../../keys/escape.js';
import type { Budget } from '../../loaders/budget.js';
import type { Collection } from '../../model/collection.js';
import { queriesOf } from '../../model/spread.js';
import { rangeGroups } from '../../plan/explain.js';
import { planMarkers, type MarkerPlan, type PlannedRange } from '../../plan/markers.js';
import { concurrentRanges, itemsFor } from '../../plan/wave.js';
import { inSpan } from '../../tracing.js';
import type { CursorPosition } from '../cursor.js';
import type { FoundPart, IndexSearch, MarkerSearch, MarkerSource, SearchContext } from '../search.js';
import type { IndexedMarkers } from './index-loader.js';

/** The number of ranges that the budget of a search covers. */
const affordableRanges = ({ budget, collection }: IndexSearch) => Math.floor(budget.calls / collection.writeShards);

/** The first ranges whose Query calls a budget covers, with the number of calls: spread prefixes take more. */
function affordable(ranges: readonly PlannedRange[], collection: Collection, budget: Budget) {
  const wave: PlannedRange[] = [];
  let queries = 0;
  for (const range of ranges) {
    const more = queriesOf(collection, range.prefix);
    if (queries + more > budget.calls) break;
    queries += more;
    wave.push(range);
  }
  return { wave, queries };
}

/** The part of a plan from a position in Z-order on: as many ranges as the budget covers. */
export function nextRanges(search: IndexSearch, after = 0): MarkerPlan {
  const { cover, collection } = search;
  return planMarkers({ cover, prefixLength: collection.prefixLength, after, ceiling: affordableRanges(search) });
}

/** Reads a search from the geo index. */
export class IndexedSearch implements MarkerSource {
  readonly #context: SearchContext;
  readonly #search: MarkerSearch;
  #ranges: readonly PlannedRange[] = [];
  /** Where the rest of the plan resumes; undefined if nothing is left. */
  #rest: number | undefined;

  constructor(context: SearchContext, search: MarkerSearch, after: CursorPosition) {
    this.#context = context;
    this.#search = search;
    this.#rest = toZ(after.slice(0, LONGEST_Z));
  }

  async next(after: CursorPosition, wanted: number): Promise<FoundPart | undefined> {
    const { collection, budget } = this.#search;
    if (affordableRanges(this.#search) < 1 || budget.items < 1) return undefined;
    if (this.#ranges.length === 0 && this.#rest !== undefined) {
      const { traced } = this.#context.loaders;
      const plan = await inSpan(traced, 'cellport.plan', {}, () => nextRanges(this.#search, this.#rest));
      ({ ranges: this.#ranges, next: this.#rest } = plan);
    }
    const { wave, queries } = affordable(this.#ranges.slice(0, concurrentRanges(wanted)), collection, budget);
    if (wave.length === 0 && this.#ranges.length > 0) return undefined;
    const share = () => budget.share(queries);
    const limit = Math.min(budget.items, itemsFor(wanted));
    const reads = await Promise.all(wave.map((range) => this.#read(range, after, limit, share)));
    const cut = reads.findIndex(({ cutAt }) => cutAt !== undefined);
    // Markers read beyond a cut are discarded: the next part reads them again.
    const used = cut < 0 ? reads : reads.slice(0, cut + 1);
    const last = wave[used.length - 1];
    this.#ranges = this.#ranges.slice(cut < 0 ? used.length : cut);
    return {
      markers: used.flatMap(({ markers }) => markers),
      again: false,
      distinct: false,
      upTo: reads[cut]?.cutAt ?? (last ? endOf(last) : after),
      ended: this.#ranges.length === 0 && this.#rest === undefined,
    };
  }

  /** Reads the rest of a range within its share of the budget: all its write shards, merged. */
  async #read(range: PlannedRange, after: CursorPosition, limit: number, share: () => Budget) {
    const { loaders, keys } = this.#context;
    const { collection } = this.#search;
    const start = fromZ(range.from, LONGEST_Z);
    const from = compareBytes(after, start) > 0 ? after : start;
    const shards: IndexedMarkers[] = [];
    for (const group of rangeGroups(range, collection, keys)) {
      const reads = group.map((keyRange) => {
        const rest = { ...keyRange, from: from.slice(range.prefix.length) };
        return loaders.index.load(collection, { range: rest, limit, budget: share() });
      });
      shards.push(...(await Promise.all(reads)));
    }
    return mergeShards(range.prefix, from, shards);
  }
}

/** Merges the markers of a range's shards in order, up to the position at which the first shard was cut. */
function mergeShards(prefix: string, from: CursorPosition, shards: readonly IndexedMarkers[]) {
  const [cutAt] = shards
    .filter(({ complete }) => !complete)
    .map(({ resumeAfter }) => (resumeAfter === undefined ? from : prefix + resumeAfter))
    .sort(compareBytes);
  const [only] = shards;
  if (only && shards.length === 1) return { markers: only.markers, cutAt };
  const markers = shards
    .flatMap((shard) => shard.markers)
    .filter(({ position }) => cutAt === undefined || compareBytes(position, cutAt) <= 0)
    .sort((a, b) => compareBytes(a.position, b.position));
  return { markers, cutAt };
}

/** The position after all markers of a range. */
const endOf = ({ to }: PlannedRange): CursorPosition =>
  to < 32 ** LONGEST_Z ? fromZ(to, LONGEST_Z) : 'z'.repeat(LONGEST_Z) + AFTER_SEPARATOR;
