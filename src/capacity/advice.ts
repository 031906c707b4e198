import { PARTITION_LIMITS } from '../model/dynamodb-limits.js';
import { bestOf, candidatesOf, type Candidate, type IndexLoad } from './candidates.js';
import { derivedWrites } from './derived-writes.js';
import type { Distribution } from './distribution.js';
import type { PageSizes } from './page-model.js';
import { onDemandCost, provisionedCost, type Demand, type MonthlyCost, type Prices } from './prices.js';
import { reasonsOf } from './reasons.js';
import { costOfCells, costOnIndex, costOnPages, meanOf, MOST_MARKERS, viewsAt, ZOOMS, type ReadCost } from './views.js';

interface Partitions {
  readonly byThroughput: number;
  readonly byStorage: number;
  readonly total: number;
  /** Units per partition, if the table's keys share them evenly. */
  readonly rcuEach: number;
  readonly wcuEach: number;
}

/**
 * The number of partitions that DynamoDB creates for a table with this peak load: by throughput ceil(RCU / 3,000 + WCU / 1,000), by storage
 * ceil(GB / 10), in total the larger of the two, and at least one. (AWS published this for provisioned tables;
 * on-demand tables split by the same limits.)
 */
export function partitionsOf({ rcu, wcu, gb }: Demand): Partitions {
  const { readUnits, writeUnits, gigabytes } = PARTITION_LIMITS;
  // A single division: with two quotients, a third and two thirds might add up to more than 1.
  const byThroughput = Math.max(1, Math.ceil((rcu * writeUnits + wcu * readUnits) / (readUnits * writeUnits)));
  const byStorage = Math.max(1, Math.ceil(gb / gigabytes));
  const total = Math.max(byThroughput, byStorage);
  return { byThroughput, byStorage, total, rcuEach: rcu / total, wcuEach: wcu / total };
}

export const GIGABYTE = 2 ** 30;
const WRITE_UNIT = 1_024;
const SECONDS_A_DAY = 86_400;
/** Overhead that DynamoDB bills per item of a table and of an index, in bytes. */
const STORED_WITH_ITEM = 100;
/** Compact keys, which people cannot read, are worthwhile if they save this share of the cost of writes and storage. */
const WORTH_COMPACT = 0.1;

/** Mean bytes of a marker, as DynamoDB counts them. */
export interface MarkerBytes {
  readonly item: number;
  readonly entry: number;
}

export interface Sizes {
  readonly readable: MarkerBytes;
  readonly compact: MarkerBytes;
  readonly page: PageSizes;
}

/** The load of a collection; undefined figures are derived from the others. */
export interface Workload {
  /** Peak read and write units per second. */
  readonly rcu?: number | undefined;
  readonly wcu?: number | undefined;
  /** Stored data, in units of 2^30 bytes. */
  readonly gb?: number | undefined;
  readonly viewsADay: number;
  /** Peak number of markers created or moved per second. */
  readonly writes: number;
  /** Ratio of the peak to the daily mean. */
  readonly peak: number;
}

/** Everything that the advice is based on. */
export interface Situation {
  readonly distribution: Distribution;
  readonly sizes: Sizes;
  readonly load: Workload;
  readonly prices: Prices;
}

/** Mean costs of the maps at one zoom. */
export interface ZoomCost {
  readonly zoom: number;
  readonly inside: number;
  /** Null if cells are computed from markers. */
  readonly cells: ReadCost | null;
  readonly pages: ReadCost;
  /** With the recommended prefix length and shards. */
  readonly index: ReadCost;
}

export interface Advice {
  readonly markers: number;
  /** At the peak. */
  readonly demand: Demand;
  readonly partitions: Partitions;
  readonly recommendation: {
    readonly prefixLength: number;
    readonly writeShards: number;
    readonly keyStyle: 'readable' | 'compact';
    /** Whether every partition key stays within the limits. */
    readonly fits: boolean;
    readonly reasons: readonly string[];
  };
  readonly candidates: readonly Candidate[];
  readonly index: IndexLoad;
  readonly itemCollection: {
    readonly limitGb: number;
    /** Size of the geo index's partition key with the most markers. */
    readonly hottestGb: number;
    /** Number of markers, distributed like these, at which the hottest partition key reaches the limit. */
    readonly markersAtLimit: number;
  };
  /** Pages have one partition key per first geohash character. */
  readonly pages: { readonly hottest: string; readonly share: number; readonly readUnits: number };
  readonly bytes: Sizes;
  readonly zooms: readonly ZoomCost[];
  /** Mean read units per map: from pages, or from cells if more than 2,000 markers are inside. */
  readonly unitsAView: number;
  readonly monthly: { readonly onDemand: MonthlyCost; readonly provisioned: MonthlyCost };
  readonly prices: Prices;
}

/** Size of all cells in bytes: a block per parent, and the sums of each child. */
function cellBytes(distribution: Distribution): number {
  const [block, child] = [60 + STORED_WITH_ITEM, 12];
  let bytes = block;
  for (let length = 1; length <= 5; length++) {
    for (const { alike, markers } of distribution.prefixes(length))
      bytes += Math.min(alike, alike * markers) * (length < 5 ? block + child : child);
  }
  return bytes;
}

/** Stored size of all markers in bytes: items, index entries, pages and cells. */
function storedBytes(distribution: Distribution, { item, entry }: MarkerBytes, page: PageSizes): number {
  const ofMarker = item + entry + 2 * STORED_WITH_ITEM + (page.bytes + STORED_WITH_ITEM) / page.markers;
  return distribution.markers * ofMarker + cellBytes(distribution);
}

/** Write units for moving a marker: its item, and its index entry, which is deleted and put again. */
const unitsOfMove = ({ item, entry }: MarkerBytes) => Math.ceil(item / WRITE_UNIT) + unitsOfEntries(entry);
const unitsOfEntries = (entry: number) => 2 * Math.ceil(entry / WRITE_UNIT);

/** The recommended key style, based on the saved cost of writes and storage. */
function styleOf({ distribution, sizes, load, prices }: Situation) {
  const costOf = (bytes: MarkerBytes) => {
    const wcu = (load.writes * unitsOfMove(bytes)) / load.peak;
    return onDemandCost({ rcu: 0, wcu, gb: storedBytes(distribution, bytes, sizes.page) / GIGABYTE }, prices).total;
  };
  const [readable, compact] = [costOf(sizes.readable), costOf(sizes.compact)];
  const saved = readable === 0 ? 0 : 1 - compact / readable;
  return { style: saved >= WORTH_COMPACT ? ('compact' as const) : ('readable' as const), saved };
}

/** Advice for a collection with these markers and this load. */
export function adviceFor(situation: Situation): Advice {
  const { distribution, sizes, load, prices } = situation;
  const { style, saved } = styleOf(situation);
  const bytes = sizes[style];
  const views = ZOOMS.flatMap((zoom) => viewsAt(distribution, zoom));
  const read = views.map((view) => {
    const cells = costOfCells(distribution, view);
    const pages = costOnPages(distribution, view, sizes.page);
    return { view, cells, pages, drawn: view.inside > MOST_MARKERS && cells ? cells : pages };
  });
  const unitsAView = meanOf(read.map(({ drawn }) => drawn)).units;
  const derived = derivedWrites(distribution, load.writes, sizes.page);
  const demand: Demand = {
    rcu: load.rcu ?? (load.viewsADay * unitsAView * load.peak) / SECONDS_A_DAY,
    wcu: load.wcu ?? load.writes * unitsOfMove(bytes) + derived,
    gb: load.gb ?? storedBytes(distribution, bytes, sizes.page) / GIGABYTE,
  };
  const entriesGb = (distribution.markers * (bytes.entry + STORED_WITH_ITEM)) / GIGABYTE;
  const index: IndexLoad = {
    readUnits: demand.rcu,
    // The share of the given units that goes to the index is unknown; assume all of it.
    writeUnits: load.wcu ?? load.writes * unitsOfEntries(bytes.entry),
    gigabytes: entriesGb,
  };
  const candidates = candidatesOf(distribution, views, index, bytes.entry);
  const best = bestOf(candidates);
  const { prefixLength, writeShards } = best;
  const layout = { prefixLength, writeShards, entryBytes: bytes.entry };
  const mean = { rcu: demand.rcu / load.peak, wcu: demand.wcu / load.peak, gb: demand.gb };
  const hottestPage = distribution.hottest(1);
  const pages = {
    hottest: hottestPage.prefix,
    share: hottestPage.share,
    readUnits: demand.rcu * hottestPage.share,
  };
  return {
    markers: distribution.markers,
    demand,
    partitions: partitionsOf(demand),
    recommendation: {
      prefixLength,
      writeShards,
      keyStyle: style,
      fits: best.fits,
      reasons: reasonsOf({ best, candidates, index, style, saved, pages }),
    },
    candidates,
    index,
    itemCollection: {
      limitGb: PARTITION_LIMITS.gigabytes,
      hottestGb: best.hottestKey.gigabytes,
      markersAtLimit: Math.floor(
        (PARTITION_LIMITS.gigabytes * GIGABYTE * writeShards) / (best.hottest.share * (bytes.entry + STORED_WITH_ITEM)),
      ),
    },
    pages,
    bytes: sizes,
    zooms: ZOOMS.map((zoom) => {
      const some = read.filter(({ view }) => view.zoom === zoom);
      const cells = some.flatMap((each) => (each.cells ? [each.cells] : []));
      return {
        zoom,
        inside: some.reduce((sum, { view }) => sum + view.inside, 0) / Math.max(1, some.length),
        cells: cells.length === 0 ? null : meanOf(cells),
        pages: meanOf(some.map((each) => each.pages)),
        index: meanOf(some.map(({ view }) => costOnIndex(distribution, view, layout))),
      };
    }),
    unitsAView,
    monthly: { onDemand: onDemandCost(mean, prices), provisioned: provisionedCost(demand, prices) },
    prices,
  };
}
