import { encode, LONGEST_Z } from '../src/geo/geohash.js';
import { compareBytes } from '../src/keys/byte-order.js';
import { LONGEST_BLOCK } from '../src/model/cell.js';
import { orderedMarker, type OrderedMarker } from '../src/pages/ordered-marker.js';
import { decodePage, encodePage, PACKING } from '../src/store/page/page-data.js';
import type { PageReplacement } from '../src/store/page/pages.js';
import { chunks } from '../src/store/request/pacing.js';
import { applyToPages, type PageChange } from '../src/stream/pages/apply.js';
import { PageMemory } from '../src/stream/pages/memory.js';
import { applying, PageTable, SCOPE } from '../test/pages/support.js';
import { randomFrom } from '../test/support/random.js';
import { cityMarkers, pointsAroundCities, pointsAroundOneCity, type BenchMarker } from './rig/points.js';
import { mean, sum, table } from './rig/statistics.js';
import type { Benchmark, Row, Section } from './section.js';

const VEHICLES = 10_000;
const SEED = 20_261_124;
/** A batch waits for so long while so many move. */
const SECONDS = 20;
const BATCHES = 2;
/** Writes are published so often meanwhile, as items of so many. */
const PUBLISHED_EVERY_S = 0.7;
const PUBLISHED_TOGETHER = 500;
/** Degrees that a vehicle moves per second: some 15 m. */
const STEP = 0.000_135;
const BYTES_A_UNIT = 1_024;
/** Size of a page's other attributes in bytes. */
const ATTRIBUTES = 70;
/** Write units of a move: the marker, and its entry in the geo index, which is deleted and put; or the marker alone. */
const MOST_DERIVED = 1_500;
const UNITS_OF_A_MOVE = { indexed: 3, unindexed: 1 };

/** Pages in memory that count the write units written to them. */
class MeteredPages extends PageTable {
  units = 0;
  readonly begins = new Set<string>();

  override write(replacements: readonly PageReplacement[]): Promise<boolean[]> {
    for (const { pages } of replacements) {
      // In one transaction with several pages, each costs twice as much.
      const times = pages.length > 1 ? 2 : 1;
      for (const { begin, data } of pages) {
        this.begins.add(begin);
        this.units += times * Math.ceil((data.length + ATTRIBUTES) / BYTES_A_UNIT);
      }
    }
    return super.write(replacements);
  }
}

const NOBODY = { collection: '', category: null, mapProperties: {}, complete: true };
const entryOf = ({ key, position, name = null }: BenchMarker, mapVersion: number): OrderedMarker =>
  orderedMarker({ ...NOBODY, key, position, geohash: encode(position, LONGEST_Z), name, mapVersion });

interface Measured {
  readonly pages: number;
  readonly pageUnits: number;
  readonly blockUnits: number;
  readonly publishedUnits: number;
}

/** Write units per second for publishing what is written, which is in no order. */
function unitsOfPublishing(moved: readonly OrderedMarker[]): number {
  const units = chunks(moved, PUBLISHED_TOGETHER).map((some) =>
    Math.ceil((encodePage(some).length + ATTRIBUTES) / BYTES_A_UNIT),
  );
  // What is published may be a little less than an item.
  return sum(units) + 1 / PUBLISHED_EVERY_S;
}

/** Write units per second while all vehicles move each second, and batches wait. */
async function measure(vehicles: readonly BenchMarker[], others: readonly BenchMarker[]): Promise<Measured> {
  const pages = new MeteredPages();
  const codec = { pack: PACKING, decode: (data: Uint8Array) => decodePage(data, '') };
  const options = { ...applying(pages, new PageMemory()), ...codec };
  const made = [...others, ...vehicles].map((marker) => entryOf(marker, 1));
  made.sort((a, b) => compareBytes(a.position, b.position));
  await applyToPages(
    options,
    1,
    made.map((after): PageChange => ({ scope: SCOPE, before: undefined, after })),
  );
  const random = randomFrom(SEED);
  let now = vehicles.map((marker) => ({ ...marker, heading: 2 * Math.PI * random() }));
  const published: number[] = [];
  let blockUnits = 0;
  pages.units = 0;
  for (let batch = 2; batch < 2 + BATCHES; batch++) {
    const before = now;
    for (let second = 0; second < SECONDS; second++) {
      now = now.map((vehicle) => {
        const heading = vehicle.heading + (random() - 0.5);
        const { lng, lat } = vehicle.position;
        const position = { lng: lng + STEP * Math.sin(heading), lat: lat + STEP * Math.cos(heading) };
        return { ...vehicle, heading, position };
      });
      if (second === 0) published.push(unitsOfPublishing(now.map((vehicle) => entryOf(vehicle, batch))));
    }
    // Each block around a vehicle has the sum of its positions.
    const blocks = new Set<string>();
    const changes = now.map((vehicle, index): PageChange => {
      const [after, was] = [entryOf(vehicle, batch), entryOf(before[index] ?? vehicle, 1).position];
      for (const position of [was, after.position])
        for (let length = 0; length <= LONGEST_BLOCK; length++) blocks.add(position.slice(0, length));
      return { scope: SCOPE, before: was, after };
    });
    blockUnits += blocks.size;
    await applyToPages(options, batch, changes);
  }
  const seconds = BATCHES * SECONDS;
  return {
    pages: pages.begins.size,
    pageUnits: pages.units / seconds,
    blockUnits: blockUnits / seconds,
    publishedUnits: mean(published),
  };
}

/** The cost of a fleet of vehicles for pages. */
export const vehicles: Benchmark = {
  name: 'vehicles',
  hasCounts: false,
  async run({ say }): Promise<Section> {
    const cases = [
      ['in one city', pointsAroundOneCity(VEHICLES, SEED), []],
      ['around cities of the world', [...pointsAroundCities(VEHICLES, SEED)], []],
      ['these among 135,233 cities that stay', [...pointsAroundCities(VEHICLES, SEED)], cityMarkers()],
    ] as const;
    const rows: string[][] = [];
    const bars: Row[] = [];
    for (const [where, fleet, others] of cases) {
      say(where);
      const keyed = fleet.map((marker) => ({ ...marker, key: `v${marker.key}` }));
      const { pages, pageUnits, blockUnits, publishedUnits } = await measure(keyed, others);
      const { indexed, unindexed } = UNITS_OF_A_MOVE;
      const derived = blockUnits + pageUnits + publishedUnits;
      const whole = (value: number) => Math.round(value).toLocaleString('en');
      const all = [indexed, unindexed].map((units) => whole(units * VEHICLES + derived));
      rows.push([where, whole(pages), ...[blockUnits, pageUnits, publishedUnits, derived].map(whole), ...all]);
      if (others.length > 0) {
        bars.push({
          what: 'write units a second of derived data for 10,000 vehicles at 1 Hz among 135,233 cities',
          bar: `at most ${whole(MOST_DERIVED)}`,
          measured: whole(derived),
          against: `markers without index: ${whole(unindexed * VEHICLES)}`,
          holds: derived <= MOST_DERIVED,
        });
      }
    }
    return {
      title: `${VEHICLES.toLocaleString('en')} vehicles that report every second: write units a second`,
      isDetail: true,
      rows: bars,
      text: [
        table([
          ['vehicles', 'pages', 'cells', 'pages, written', 'published', 'derived', 'all with index', 'all without'],
          ...rows,
        ]),
        '',
        `They move at 15 m/s. The consumer applies a batch every ${SECONDS} s, and publishes what it has read meanwhile.`,
      ].join('\n'),
    };
  },
};
