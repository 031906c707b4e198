import { writeFile } from 'node:fs/promises';

import { sizesOf } from '../src/cli/advise/sizes.js';
import { KEPT_DIRECTORIES } from '../src/read/from-pages/directory-cache.js';
import { MOST_HINTS } from '../src/store/page/pages.js';
import { pointsAroundCities } from './rig/points.js';
import { shown, table } from './rig/statistics.js';
import { logChart, type Line } from './scale/chart.js';
import { MAPS_A_SERVER, type Fleet } from './scale/fleet.js';
import { PUBLISHED } from './scale/published.js';
import { Study, type Case, type MeanBytes } from './scale/study.js';
import { VEHICLES_A_CITY } from './scale/vehicles.js';
import { citiesByPopulation, visitedCities, worldOf } from './scale/world.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const SEED = 7;
const MARKERS = 1_000_000_000;
const SMALLER = [1_000_000, 10_000_000, 100_000_000];
const SAMPLED = 20_000;
const FLEETS = [1, 3, 10, 30, 100, 300, 1_000];
/** The fleets in the table; the chart has all. */
const LISTED_FLEETS: ReadonlySet<number> = new Set([10, 100, 1_000]);
const CITIES = [1, 10, 100];
const CHART = 'docs/scaling.svg';
const SIMULATION =
  "Markers lie around cities in proportion to population; map views follow Zipf's law over 832 cities and eight zooms, with a daily curve. Partitions behave as AWS publishes (`test/capacity/scale/published.test.ts`); that they split for heat after ten minutes of full load is our assumption.";

/** The systems that serve maps. */
const SYSTEMS = [
  ['pages', { source: 'pages', fleet: { caches: 'consumer' } }],
  ['all servers cache', { source: 'pages', fleet: { caches: 'all' } }],
  ['none caches', { source: 'pages', fleet: { caches: 'none' } }],
  ['geo index', { source: 'index', fleet: { caches: 'consumer' } }],
] as const satisfies readonly (readonly [string, Omit<Case, 'fleet'> & { fleet: Omit<Fleet, 'servers'> }])[];

const whole = (value: number) => Math.round(value).toLocaleString('en');
const percent = (part: number) => `${shown(100 * part, part > 0 && part < 0.0095 ? 2 : 1)}%`;
const short = (value: number) => value.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 });

function bytesOfMarkers(): MeanBytes {
  const collection = { key: 'points', code: null, mapProperties: ['population'], globalIds: false, prefixLength: 2 };
  const { readable, page } = sizesOf([...pointsAroundCities(SAMPLED, SEED)], collection);
  return { ...readable, page };
}

/** A day of maps by fleets: peaks of read units, cost, and what is throttled on the first day. */
function mapsByFleet(study: Study) {
  const lines: Line[] = [];
  let mostThrottledLater = 0;
  const rows = FLEETS.map((servers): string[] => [whole(servers)]);
  for (const [name, { source, fleet }] of SYSTEMS) {
    const points = FLEETS.map((servers, index) => {
      const [first, second] = study.days({ source, fleet: { servers, ...fleet } });
      if (!first || !second) throw new Error('no days');
      mostThrottledLater = Math.max(mostThrottledLater, second.throttled.read);
      rows[index]?.push(
        `${short(second.peak.read)}; ${short(second.dollars.onDemand)}; ${percent(first.throttled.read)}`,
      );
      return [servers, Math.max(0.1, second.peak.read)] as const;
    });
    lines.push({ name, points });
  }
  const listed = rows.filter((_, index) => LISTED_FLEETS.has(FLEETS[index] ?? 0));
  return {
    lines,
    mostThrottledLater,
    text: table([['servers', ...SYSTEMS.map(([name]) => name)], ...listed]),
  };
}

/** How the geo index is written by vehicles: partition keys that DynamoDB splits, and as many write shards. */
const WAYS = [
  ['on demand', { isProvisioned: false, layout: { prefixLength: 2, writeShards: 1 } }],
  ['provisioned', { isProvisioned: true, layout: { prefixLength: 2, writeShards: 1 } }],
  ['32 shards', { isProvisioned: true, layout: { prefixLength: 2, writeShards: 32 } }],
  ['keys not split', { isProvisioned: true, splitsKeys: false, layout: { prefixLength: 2, writeShards: 1 } }],
] as const;

function vehiclesByCities(study: Study): string {
  const fleet: Fleet = { servers: 10, caches: 'consumer' };
  const rows = CITIES.map((citiesWithVehicles) => {
    const all = WAYS.map(([, way]) => {
      const [first, second] = study.days({ fleet, source: 'pages', citiesWithVehicles, ...way });
      if (!first || !second) throw new Error('no days');
      return { first, second };
    });
    const [onDemand, provisioned] = all;
    return [
      whole(citiesWithVehicles),
      short(onDemand?.second.peak.write ?? 0),
      `${short(onDemand?.second.dollars.onDemand ?? 0)}; ${short(provisioned?.second.dollars.provisioned ?? 0)}`,
      ...all.map(
        ({ first, second }) =>
          `${percent(first.throttled.write)}, ${shown(first.throttledHours)} h${second.throttled.write < 0.0005 ? '' : `; ${percent(second.throttled.write)}`}`,
      ),
    ];
  });
  const head = ['cities', 'write units/s', 'USD a day, on demand; provisioned', ...WAYS.map(([name]) => name)];
  return table([head, ...rows]);
}

/** Which limit a collection of a size meets, and where. */
function limitsOf(markers: number, study: Study) {
  const parts = study.derived.partsOf.reduce((sum, count) => sum + count, 0);
  const hints = parts * MOST_HINTS * KEPT_DIRECTORIES.hintBytes;
  const [, day] = study.days({ source: 'pages', fleet: { servers: 10, caches: 'consumer' } });
  const units = (day?.mean.read ?? 0) / ((10 * MAPS_A_SERVER) / study.flows().peak);
  return {
    units,
    row: [
      short(markers),
      whole(hints / 2 ** 20),
      shown(units),
      whole(PUBLISHED.tableQuota.read / (units * MAPS_A_SERVER)),
    ],
  };
}

async function run({ say }: BenchOptions): Promise<Section> {
  const bytes = bytesOfMarkers();
  const world = worldOf(MARKERS, SEED);
  const cities = citiesByPopulation();
  const visited = visitedCities(cities, SEED);
  const studyOf = (markers: number) => new Study(world.scaledTo(markers), bytes, cities, visited);
  const study = studyOf(MARKERS);
  say('maps by fleet');
  const maps = mapsByFleet(study);
  say('vehicles by cities');
  const vehicles = vehiclesByCities(study);
  say('limits by size');
  const limits = [...SMALLER, MARKERS].map((markers) => ({
    markers,
    ...limitsOf(markers, markers === MARKERS ? study : studyOf(markers)),
  }));
  const byMarkers: Line = {
    name: 'pages',
    points: limits.map((each) => [each.markers, each.units] as const),
  };
  await writeFile(
    CHART,
    await logChart([
      { title: `Read units a second at the peak, ${short(MARKERS)} markers`, across: 'servers', lines: maps.lines },
      {
        title: 'Read units a map, 10 servers',
        across: 'markers',
        lines: [byMarkers],
      },
    ]),
  );
  return {
    title: 'Scale, simulated',
    isDetail: true,
    rows: [
      {
        what: 'reads throttled on the second day, at most',
        bar: '',
        measured: percent(maps.mostThrottledLater),
        against: '',
      },
    ],
    text: [
      SIMULATION,
      `${short(MARKERS)} markers of ${whole(bytes.item)} B, index entries of ${whole(bytes.entry)} B, ${shown(bytes.page.markers)} markers a page.`,
      `Each server answers ${MAPS_A_SERVER} maps a second.\n`,
      table([
        ['markers', 'directory, MB', 'read units a map', `servers at ${short(PUBLISHED.tableQuota.read)} read units`],
        ...limits.map(({ row }) => row),
      ]),
    ].join('\n'),
    details: [
      'Read units a second at the peak; USD a day; reads throttled on the first day, on new tables:\n',
      maps.text,
      `\n${whole(VEHICLES_A_CITY)} vehicles in each of the largest cities at 1 Hz. Writes throttled on the first day, until when; on the second:\n`,
      vehicles,
    ].join('\n'),
  };
}

/** What breaks first with up to a billion markers: docs/scaling.md. */
export const scale: Benchmark = { name: 'scale', hasCounts: false, run };
