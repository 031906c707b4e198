import { partitionsOf } from '../../src/capacity/advice.js';
import { HOURS_A_MONTH, onDemandCost, PRICE_LIST, provisionedCost } from '../../src/capacity/prices.js';
import { mapsOf, type Fleet } from './fleet.js';
import type { Flows } from './flows.js';
import { LineSums, type KeyLine } from './key-line.js';
import { KINDS, type Kind } from './published.js';
import { SimulatedTable, type Outcome } from './table.js';
import type { VehicleWrites } from './vehicles.js';

/** A day is sampled at the start of each five minutes, which is as long as DynamoDB saves unused capacity. */
const STEP_SECONDS = 300;
const STEPS = 86_400 / STEP_SECONDS;
const DAYS_A_MONTH = HOURS_A_MONTH / 24;
/** Ratio of provisioned to used write units, and the read units per second, which are irrelevant in that case. */
const PROVISIONED = 1.2;
const PROVISIONED_READS = 40_000;

const NAMES = ['entities', 'index', 'derived'] as const;
type Name = (typeof NAMES)[number];

/** The replayed scenario. */
export interface Replay {
  readonly lines: Readonly<Record<Name, KeyLine>>;
  readonly flows: Flows;
  readonly fleet: Fleet;
  /** Whether maps read markers from pages, or from the geo index. */
  readonly source: 'pages' | 'index';
  readonly misses: Float64Array;
  readonly vehicles: VehicleWrites;
  /** Whether the tables have provisioned write units, a fifth more than used; otherwise they are on demand. */
  readonly isProvisioned?: boolean;
}

/** One day of the replay. */
export interface Day {
  /** Demand in units per second, mean and peak over all five-minute steps. */
  readonly mean: Readonly<Record<Kind, number>>;
  readonly peak: Readonly<Record<Kind, number>>;
  /**
   * Share of the units that was not served. For writes, that of vehicles: a write fails if its index entry is
   * throttled.
   */
  readonly throttled: Readonly<Record<Kind, number>>;
  /** The same for the consumer's writes, which it retries: it falls behind. */
  readonly consumerThrottled: number;
  /** Hours of the day after which nothing more was throttled. */
  readonly throttledHours: number;
  /** The partition key with the most throttling. */
  readonly throttledKey: string | undefined;
  readonly partitions: Readonly<Record<Name, number>>;
  readonly dollars: { readonly onDemand: number; readonly provisioned: number };
}

type Outcomes = Readonly<Record<Name, Outcome>>;

class Tally {
  #steps = 0;
  #lastThrottled = 0;
  readonly #demanded = { read: 0, write: 0 };
  readonly #peak = { read: 0, write: 0 };
  #served = { read: 0, write: 0 };
  #lostReads = 0;
  #writesWanted = 0;
  #writesDone = 0;
  #consumer = { wanted: 0, done: 0 };
  readonly #keys = new Map<string, number>();

  add(outcomes: Outcomes): void {
    this.#steps += 1;
    for (const kind of KINDS) {
      const demanded = NAMES.reduce((sum, name) => sum + outcomes[name].demanded[kind], 0);
      this.#demanded[kind] += demanded;
      this.#peak[kind] = Math.max(this.#peak[kind], demanded);
      this.#served[kind] += NAMES.reduce((sum, name) => sum + outcomes[name].served[kind], 0);
    }
    this.#lostReads += NAMES.reduce((sum, name) => sum + outcomes[name].demanded.read - outcomes[name].served.read, 0);
    const part = (name: Name) => {
      const { demanded, served } = outcomes[name];
      return demanded.write === 0 ? 1 : served.write / demanded.write;
    };
    const { write } = outcomes.entities.demanded;
    this.#writesWanted += write;
    this.#writesDone += write * Math.min(part('entities'), part('index'));
    this.#consumer = {
      wanted: this.#consumer.wanted + outcomes.derived.demanded.write,
      done: this.#consumer.done + outcomes.derived.served.write,
    };
    for (const name of NAMES) {
      const key = outcomes[name].throttledKey;
      if (key === undefined) continue;
      this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
      this.#lastThrottled = this.#steps;
    }
  }

  day(tables: Readonly<Record<Name, SimulatedTable>>): Day {
    const mean = { read: this.#demanded.read / this.#steps, write: this.#demanded.write / this.#steps };
    const [first] = [...this.#keys].toSorted(([, a], [, b]) => b - a);
    const { prices } = PRICE_LIST;
    const served = { rcu: this.#served.read / this.#steps, wcu: this.#served.write / this.#steps, gb: 0 };
    const peak = { rcu: this.#peak.read, wcu: this.#peak.write, gb: 0 };
    const lost = (done: number, wanted: number) => (wanted === 0 ? 0 : Math.max(0, 1 - done / wanted));
    return {
      mean,
      peak: this.#peak,
      throttled: {
        read: this.#demanded.read === 0 ? 0 : this.#lostReads / this.#demanded.read,
        write: lost(this.#writesDone, this.#writesWanted),
      },
      consumerThrottled: lost(this.#consumer.done, this.#consumer.wanted),
      throttledHours: (this.#lastThrottled * STEP_SECONDS) / 3_600,
      throttledKey: first?.[0],
      partitions: {
        entities: tables.entities.partitions.length,
        index: tables.index.partitions.length,
        derived: tables.derived.partitions.length,
      },
      dollars: {
        onDemand: onDemandCost(served, prices).total / DAYS_A_MONTH,
        provisioned: provisionedCost(peak, prices).total / DAYS_A_MONTH,
      },
    };
  }
}

/** An empty table or index for a number of write units per second. */
function newTable(line: KeyLine, write: number, isProvisioned: boolean): SimulatedTable {
  if (!isProvisioned) return new SimulatedTable(line);
  const provisioned = { read: PROVISIONED_READS, write: Math.max(1, PROVISIONED * write) };
  const { byThroughput } = partitionsOf({ rcu: provisioned.read, wcu: provisioned.write, gb: 0 });
  return new SimulatedTable(line, { provisioned, partitions: byThroughput });
}

/** Replays several days in sequence on new tables: the first day is a cold start. */
export function replay(
  { lines, flows, fleet, source, misses, vehicles, isProvisioned = false }: Replay,
  days: number,
): Day[] {
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  const tables = {
    entities: newTable(lines.entities, vehicles.entity, isProvisioned),
    index: newTable(lines.index, sum(vehicles.index), isProvisioned),
    derived: newTable(lines.derived, sum(vehicles.derived), isProvisioned),
  };
  const none = (line: KeyLine) => new LineSums(new Float64Array(line.stretches.length));
  const parts = lines.entities.stretches.length;
  const writes = {
    entities: lines.entities.along(new Float64Array(parts).fill(vehicles.entity / parts)),
    index: lines.index.along(vehicles.index),
    derived: lines.derived.along(vehicles.derived),
  };
  const maps = mapsOf(fleet, flows);
  return Array.from({ length: days }, () => {
    const tally = new Tally();
    for (let step = 0; step < STEPS; step++) {
      const now = step * STEP_SECONDS;
      const reads: Float64Array = flows.blocks.at(now, maps, misses);
      if (source === 'pages') {
        flows.pages.at(now, maps, misses, reads);
        flows.directories.at(now, maps, misses, reads);
      }
      const fromIndex =
        source === 'index' ? lines.index.along(flows.index.at(now, maps, undefined)) : none(lines.index);
      tally.add({
        entities: tables.entities.step({ read: none(lines.entities), write: writes.entities }, STEP_SECONDS),
        index: tables.index.step({ read: fromIndex, write: writes.index }, STEP_SECONDS),
        derived: tables.derived.step({ read: lines.derived.along(reads), write: writes.derived }, STEP_SECONDS),
      });
    }
    return tally.day(tables);
  });
}
