import type { PageSizes } from '../../src/capacity/page-model.js';
import type { Point } from '../../src/geo/bounds.js';
import { encode, LONGEST_Z, toZ } from '../../src/geo/geohash.js';
import type { DerivedLine, Partitioning } from './lines.js';

/** Number of vehicles in a city, each of which moves once a second. */
export const VEHICLES_A_CITY = 10_000;
/** Batches of the consumer per second, and writes of its state for each (src/capacity/derived-writes.ts). */
const BATCHES = 5;
const STATE_WRITES = 2;
const WRITE_UNIT = 1_024;

/** Write units per second, by stretch. */
export interface VehicleWrites {
  readonly changes: number;
  readonly entity: number;
  readonly index: Float64Array;
  readonly derived: Float64Array;
}

/** The expected number of distinct objects hit by a number of changes, if all are equally likely. */
const met = (things: number, changes: number) => things * (1 - (1 - 1 / Math.max(1, things)) ** changes);

/**
 * What vehicles in these cities write: their items, their index entries, and what the consumer makes of them if it keeps up.
 * `page` is undefined if there are no pages.
 */
export function vehicleWrites(
  cities: readonly Point[],
  derived: DerivedLine,
  page: PageSizes | undefined,
  { writeShards, entryBytes }: Partitioning,
  itemBytes: number,
): VehicleWrites {
  const changes = cities.length * VEHICLES_A_CITY;
  const { areas, blocks, blocksAt, stateAt } = derived;
  const byArea = new Float64Array(areas.all.length);
  const writes = new Float64Array(derived.line.stretches.length);
  const byBlock = blocks.map((cells) => new Float64Array(cells.all.length));
  for (const city of cities) {
    const z = toZ(encode(city, LONGEST_Z));
    const [area] = areas.meeting({ from: z, to: z + 1 });
    byArea[area] = (byArea[area] ?? 0) + VEHICLES_A_CITY;
    blocks.forEach((cells, length) => {
      const [at] = cells.meeting({ from: z, to: z + 1 });
      const counts = byBlock[length];
      if (counts) counts[at] = (counts[at] ?? 0) + VEHICLES_A_CITY;
    });
  }
  byBlock.forEach((counts, length) =>
    counts.forEach((count, at) => (writes[(blocksAt[length] ?? 0) + at] = BATCHES * Math.min(1, count / BATCHES))),
  );
  if (cities.length > 0) writes[stateAt] = BATCHES * STATE_WRITES;
  if (page) {
    byArea.forEach((count, at) => {
      // Vehicles are also markers: they fill their own pages where there are few others.
      const pages = Math.max(areas.all[at]?.markers ?? 0, count) / page.markers;
      writes[at] = BATCHES * met(pages, count / BATCHES);
    });
  }
  // A move deletes the index entry and puts it again.
  const entryUnits = 2 * Math.ceil(entryBytes / WRITE_UNIT);
  const index = new Float64Array(byArea.length * writeShards);
  byArea.forEach((count, area) => {
    for (let shard = 0; shard < writeShards; shard++)
      index[area * writeShards + shard] = (count * entryUnits) / writeShards;
  });
  return { changes, entity: changes * Math.ceil(itemBytes / WRITE_UNIT), index, derived: writes };
}
