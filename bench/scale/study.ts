import type { Distribution } from '../../src/capacity/distribution.js';
import type { PageSizes } from '../../src/capacity/page-model.js';
import type { Point } from '../../src/geo/bounds.js';
import { replay, type Day } from './day.js';
import { fleetMisses, type Fleet } from './fleet.js';
import { flowsOf, type Flows } from './flows.js';
import { derivedLine, entityLine, indexLine, type DerivedLine, type Partitioning } from './lines.js';
import { planMaps } from './maps.js';
import { vehicleWrites } from './vehicles.js';
import type { Visited } from './world.js';

/** Mean sizes of markers in bytes, measured on a sample. */
export interface MeanBytes {
  readonly item: number;
  readonly entry: number;
  readonly page: PageSizes;
}

/** The layout of a collection's geo index. */
export type Layout = Pick<Partitioning, 'prefixLength' | 'writeShards'>;

/** A scenario to replay on a world of markers. */
export interface Case {
  readonly fleet: Fleet;
  readonly source: 'pages' | 'index';
  readonly layout?: Layout;
  /** Number of cities with vehicles, largest first. */
  readonly citiesWithVehicles?: number;
  readonly isProvisioned?: boolean;
  /** Whether DynamoDB can split the partition keys of the geo index, as it can without local secondary indexes. */
  readonly splitsKeys?: boolean;
}

const DEFAULT_LAYOUT: Layout = { prefixLength: 2, writeShards: 1 };
const DAYS = 2;

/** Replays days for one number of markers; what all scenarios share is planned once. */
export class Study {
  readonly derived: DerivedLine;
  readonly #world: Distribution;
  readonly #bytes: MeanBytes;
  readonly #cities: readonly Point[];
  readonly #visited: readonly Visited[];
  readonly #flows = new Map<string, Flows>();

  constructor(world: Distribution, bytes: MeanBytes, cities: readonly Point[], visited: readonly Visited[]) {
    this.#world = world;
    this.#bytes = bytes;
    this.#cities = cities;
    this.#visited = visited;
    this.derived = derivedLine(world, bytes.page);
  }

  flows(layout: Layout = DEFAULT_LAYOUT): Flows {
    const name = JSON.stringify(layout);
    const known = this.#flows.get(name);
    if (known) return known;
    const full = { ...layout, entryBytes: this.#bytes.entry };
    const maps = planMaps(this.#world, this.derived, this.#bytes.page, full, this.#visited);
    const flows = flowsOf(maps, this.derived, full);
    this.#flows.set(name, flows);
    return flows;
  }

  /** The first day on new tables, and the second day. */
  days({ fleet, source, isProvisioned = false, splitsKeys = true, ...rest }: Case): Day[] {
    const { layout = DEFAULT_LAYOUT, citiesWithVehicles = 0 } = rest;
    const { item, entry, page } = this.#bytes;
    const full = { ...layout, entryBytes: entry };
    const flows = this.flows(layout);
    const cities = this.#cities.slice(0, citiesWithVehicles);
    const vehicles = vehicleWrites(cities, this.derived, source === 'pages' ? page : undefined, full, item);
    const lines = {
      entities: entityLine(this.#world.markers, item),
      index: indexLine(this.derived.areas, full, splitsKeys),
      derived: this.derived.line,
    };
    const misses = fleetMisses(fleet, flows, this.derived, page, vehicles.derived);
    return replay({ lines, flows, fleet, source, misses, vehicles, isProvisioned }, DAYS);
  }
}
