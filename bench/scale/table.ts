import { admit } from './admit.js';
import type { Demand, KeyLine } from './key-line.js';
import { Peaks } from './peaks.js';
import { ASSUMED, KINDS, PUBLISHED, type Kind, type Units } from './published.js';

/** Provisioned units per second; on demand if undefined. */
export interface TableOptions {
  readonly provisioned?: Units;
  /** Initial number of partitions, before those that its size requires. */
  readonly partitions?: number;
}

/** A part of the key line that one DynamoDB partition stores. */
interface Partition {
  readonly from: number;
  readonly to: number;
  /** How long it has been under full load. */
  hotSeconds: number;
  /** Unused units that it has saved. */
  readonly kept: Record<Kind, number>;
}

/** The outcome for the demand during some seconds, in units per second. */
export interface Outcome {
  readonly demanded: Units;
  readonly served: Units;
  /** The partition key with the most throttling, if there was any. */
  readonly throttledKey: string | undefined;
}

type ByPartition = Readonly<Record<Kind, Float64Array>>;

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
const totals = ({ read, write }: ByPartition): Units => ({ read: sum(read), write: sum(write) });

/**
 * The partitions of a DynamoDB table, or of an index, which has its own. Demand is a flow: requests arrive evenly
 * within a step. The caller advances time.
 */
export class SimulatedTable {
  readonly line: KeyLine;
  readonly #provisioned: Units | undefined;
  readonly #peaks = { read: new Peaks(PUBLISHED.onDemand.read), write: new Peaks(PUBLISHED.onDemand.write) };
  #partitions: Partition[];
  #now = 0;

  constructor(line: KeyLine, { provisioned, partitions = PUBLISHED.onDemand.partitions }: TableOptions = {}) {
    this.line = line;
    this.#provisioned = provisioned;
    const ends = Array.from({ length: partitions }, (_, index) => line.placeOf((index + 1) / partitions));
    ends[ends.length - 1] = line.stretches.length;
    this.#partitions = ends.flatMap((to, index) => {
      const from = ends[index - 1] ?? 0;
      return to > from ? [{ from, to, hotSeconds: 0, kept: { read: 0, write: 0 } }] : [];
    });
    this.#splitForSize();
  }

  get partitions(): readonly { readonly from: number; readonly to: number }[] {
    return this.#partitions;
  }

  /** Serves the demand of the next seconds, then splits partitions that were too hot. */
  step(demand: Demand, seconds: number): Outcome {
    const wanted = (kind: Kind) => Float64Array.from(this.#partitions, ({ from, to }) => demand[kind].within(from, to));
    const demanded = { read: wanted('read'), write: wanted('write') };
    const takes = { read: this.#takes('read'), write: this.#takes('write') };
    const served = {
      read: this.#serve('read', demanded.read, takes.read, seconds),
      write: this.#serve('write', demanded.write, takes.write, seconds),
    };
    this.#now += seconds;
    for (const kind of KINDS) this.#peaks[kind].served(this.#now, sum(served[kind]));
    const throttledKey = this.#mostThrottled(demanded, served, demand);
    this.#splitForHeat(served, demand, seconds);
    if (this.#provisioned === undefined) this.#splitForPeak(takes, demand);
    return { demanded: totals(demanded), served: totals(served), throttledKey };
  }

  /** Capacity of the whole table in units per second. */
  #takes(kind: Kind): number {
    return this.#provisioned?.[kind] ?? this.#peaks[kind].capacityAt(this.#now);
  }

  #serve(kind: Kind, demanded: Float64Array, total: number, seconds: number): Float64Array {
    const most = PUBLISHED.partition[kind];
    if (this.#provisioned === undefined) return admit(demanded, seconds, { most, total, tokens: undefined });
    const tokens = Float64Array.from(this.#partitions, ({ kept }) => kept[kind]);
    const served = admit(demanded, seconds, { most, total, tokens });
    this.#partitions.forEach(({ kept }, index) => (kept[kind] = tokens[index] ?? 0));
    return served;
  }

  #mostThrottled(demanded: ByPartition, served: ByPartition, demand: Demand): string | undefined {
    let most = { lost: 1e-6, kind: 'read' as Kind, index: -1 };
    for (const kind of KINDS) {
      demanded[kind].forEach((value, index) => {
        const lost = (value - (served[kind][index] ?? 0)) / PUBLISHED.partition[kind];
        if (lost > most.lost) most = { lost, kind, index };
      });
    }
    const hot = this.#partitions[most.index];
    if (!hot) return undefined;
    return this.line.stretches[Math.floor(demand[most.kind].middleOf(hot.from, hot.to))]?.pk;
  }

  /** A partition split in two, each with half of the saved units; unsplit if it cannot be cut. */
  #halves(whole: Partition, middle: number): Partition[] {
    const { from, to, kept } = whole;
    const cut = this.line.cutNear(middle, from, to);
    if (cut === undefined) return [whole];
    const half = () => ({ hotSeconds: 0, kept: { read: kept.read / 2, write: kept.write / 2 } });
    return [
      { from, to: cut, ...half() },
      { from: cut, to, ...half() },
    ];
  }

  #splitForSize(): void {
    for (let before = 0; before !== this.#partitions.length;) {
      before = this.#partitions.length;
      this.#partitions = this.#partitions.flatMap((each) => {
        const isLarge = this.line.bytes.within(each.from, each.to) > PUBLISHED.partition.bytes;
        return isLarge ? this.#halves(each, this.line.bytes.middleOf(each.from, each.to)) : [each];
      });
    }
  }

  #splitForHeat(served: ByPartition, demand: Demand, seconds: number): void {
    this.#partitions = this.#partitions.flatMap((partition, index) => {
      const load = (kind: Kind) => (served[kind][index] ?? 0) / PUBLISHED.partition[kind];
      const isHot = Math.max(load('read'), load('write')) >= ASSUMED.heatShare;
      partition.hotSeconds = isHot ? partition.hotSeconds + seconds : 0;
      if (partition.hotSeconds < ASSUMED.heatSeconds) return [partition];
      const hotter = load('read') > load('write') ? demand.read : demand.write;
      return this.#halves(partition, hotter.middleOf(partition.from, partition.to));
    });
  }

  /**
   * An on-demand table has enough partitions for its immediate capacity: its fullest ones are split, those above half
   * of the fullest.
   */
  #splitForPeak(takes: Units, demand: Demand): void {
    const fewest = Math.max(...KINDS.map((kind) => takes[kind] / PUBLISHED.partition[kind]));
    // By halving, so that even demand is spread evenly over a power of two.
    const needed = 2 ** Math.ceil(Math.log2(fewest));
    const loadOf = (kind: Kind, { from, to }: Partition) => demand[kind].within(from, to) / PUBLISHED.partition[kind];
    for (let before = 0; before !== this.#partitions.length && this.#partitions.length < needed;) {
      before = this.#partitions.length;
      const loads = this.#partitions.map((each) => Math.max(loadOf('read', each), loadOf('write', each)));
      const half = loads.reduce((most, load) => Math.max(most, load), 0) / 2;
      let missing = needed - before;
      this.#partitions = this.#partitions.flatMap((each, index) => {
        if (missing === 0 || (loads[index] ?? 0) <= half) return [each];
        const hotter = loadOf('read', each) > loadOf('write', each) ? demand.read : demand.write;
        const halves = this.#halves(each, hotter.middleOf(each.from, each.to));
        missing -= halves.length - 1;
        return halves;
      });
    }
  }
}
