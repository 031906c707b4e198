import type { DerivedLine, Partitioning } from './lines.js';
import type { PlannedMap } from './maps.js';
import { activityAt } from './world.js';

/** People are counted by longitude for this many hours. */
const HOURS = 24;
const hourOf = (lng: number) => ((Math.round(lng / 15) % HOURS) + HOURS) % HOURS;

/** Mean read units per map over all maps, by stretch read and by the longitude of the viewer. */
export class Flow {
  readonly #units = new Map<number, number>();
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  add(lng: number, at: number, units: number): void {
    const name = hourOf(lng) * this.#length + at;
    this.#units.set(name, (this.#units.get(name) ?? 0) + units);
  }

  /**
   * Read units per second along the stretches at a time of day, for a mean number of maps per second and given miss
   * rates.
   */
  at(
    seconds: number,
    maps: number,
    misses: Float64Array | undefined,
    into: Float64Array = new Float64Array(this.#length),
  ): Float64Array {
    const activity = Array.from({ length: HOURS }, (_, hour) => activityAt(hour * 15, seconds));
    for (const [name, units] of this.#units) {
      const at = name % this.#length;
      const rate = units * maps * (activity[Math.floor(name / this.#length)] ?? 0) * (misses?.[at] ?? 1);
      into[at] = (into[at] ?? 0) + rate;
    }
    return into;
  }
}

/** Mean reads of a map. */
export interface Flows {
  readonly calls: number;
  readonly blocks: Flow;
  readonly pages: Flow;
  /** How many things of each stretch of the derived table a map asks for on average: blocks, pages, parts of directories. */
  readonly asked: Float64Array;
  readonly directories: Flow;
  readonly index: Flow;
  readonly indexCalls: number;
  /** Ratio of the busiest second of the day to the mean. */
  readonly peak: number;
}

export function flowsOf(maps: Iterable<PlannedMap>, derived: DerivedLine, { writeShards }: Partitioning): Flows {
  const length = derived.line.stretches.length;
  const [blocks, pages, directories] = [new Flow(length), new Flow(length), new Flow(length)];
  const index = new Flow(derived.areas.all.length * writeShards);
  const asked = new Float64Array(length);
  const people = new Float64Array(HOURS);
  const ask = (at: number, things: number) => (asked[at] = (asked[at] ?? 0) + things);
  let [calls, indexCalls] = [0, 0];
  for (const map of maps) {
    const { lng, share } = map;
    people[hourOf(lng)] = (people[hourOf(lng)] ?? 0) + share;
    calls += share * map.calls;
    indexCalls += share * (map.index?.cost.calls ?? map.calls);
    for (const { at, units, things } of map.blocks) {
      blocks.add(lng, at, share * units);
      ask(at, share * things);
    }
    for (const { at, units, things } of map.pages) {
      pages.add(lng, at, share * units);
      ask(at, share * things);
    }
    for (const { at, units, things } of map.directories) {
      directories.add(lng, at, share * units);
      ask(at, share * things);
    }
    for (const [area, part] of map.index?.areas ?? []) {
      for (let shard = 0; shard < writeShards; shard++)
        index.add(lng, area * writeShards + shard, ((map.index?.cost.units ?? 0) * share * part) / writeShards);
    }
  }
  const activity = (hour: number) =>
    people.reduce((sum, part, at) => sum + part * activityAt(at * 15, hour * 3_600), 0);
  const peak = Math.max(...Array.from({ length: HOURS }, (_, hour) => activity(hour)));
  return { calls, blocks, pages, asked, directories, index, indexCalls, peak };
}
