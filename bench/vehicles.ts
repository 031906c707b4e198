import { encode, LONGEST_Z } from '../src/geo/geohash.js';
import { compareBytes } from '../src/keys/byte-order.js';
import { LONGEST_BLOCK } from '../src/model/cell.js';
import { orderedMarker, type OrderedMarker } from '../src/pages/ordered-marker.js';
import { decodePage, PACKING } from '../src/store/page/page-data.js';
import type { PageReplacement } from '../src/store/page/pages.js';
import { applyToPages, type PageChange } from '../src/stream/pages/apply.js';
import { PageMemory } from '../src/stream/pages/memory.js';
import { applying, PageTable, SCOPE } from '../test/pages/support.js';
import { randomFrom } from '../test/support/random.js';
import { cityMarkers, pointsAroundCities, pointsAroundOneCity, type BenchMarker } from './rig/points.js';
import { shown, table } from './rig/statistics.js';
import type { Benchmark, Section } from './section.js';

const VEHICLES = 10_000;
const SEED = 20_261_124;
const SECONDS = 5;
/** Degrees that a vehicle moves per second: some 15 m. */
const STEP = 0.000_135;
const BYTES_A_UNIT = 1_024;
/** Size of a page's other attributes in bytes. */
const ATTRIBUTES = 70;
/** Write units of a move: the marker, and its entry in the geo index, which is deleted and put; or the marker alone. */
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
}

/** Write units per second while all vehicles move each second, and each second is one batch. */
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
  const blocks = new Set<string>();
  pages.units = 0;
  for (let second = 0; second < SECONDS; second++) {
    const next = now.map((vehicle) => {
      const heading = vehicle.heading + (random() - 0.5);
      const { lng, lat } = vehicle.position;
      const position = { lng: lng + STEP * Math.sin(heading), lat: lat + STEP * Math.cos(heading) };
      return { ...vehicle, heading, position };
    });
    const changes = next.map((vehicle, index): PageChange => {
      const after = entryOf(vehicle, second + 2);
      // Each block around a vehicle has the sum of its positions.
      for (let length = 0; length <= LONGEST_BLOCK; length++)
        blocks.add(`${second} ${after.position.slice(0, length)}`);
      return { scope: SCOPE, before: entryOf(now[index] ?? vehicle, 1).position, after };
    });
    await applyToPages(options, second + 2, changes);
    now = next;
  }
  return { pages: pages.begins.size, pageUnits: pages.units / SECONDS, blockUnits: blocks.size / SECONDS };
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
    for (const [where, fleet, others] of cases) {
      say(where);
      const keyed = fleet.map((marker) => ({ ...marker, key: `v${marker.key}` }));
      const { pages, pageUnits, blockUnits } = await measure(keyed, others);
      const { indexed, unindexed } = UNITS_OF_A_MOVE;
      const without = indexed * VEHICLES + blockUnits;
      const whole = (value: number) => Math.round(value).toLocaleString('en');
      const share = `${shown((100 * pageUnits) / without)}%`;
      const markers = [whole(indexed * VEHICLES), whole(unindexed * VEHICLES)];
      rows.push([where, whole(pages), ...markers, whole(blockUnits), whole(pageUnits), share]);
    }
    return {
      title: `${VEHICLES.toLocaleString('en')} vehicles that report every second: write units a second`,
      isDetail: true,
      rows: [],
      text: [
        table([
          ['vehicles', 'pages', 'markers and geo index', 'without index', 'cells', 'pages, written', 'more for pages'],
          ...rows,
        ]),
        '',
        'They move at 15 m/s, and the consumer applies one batch a second.',
      ].join('\n'),
    };
  },
};
