import type { Point } from '../src/geo/bounds.js';
import { distance } from '../src/geo/distance.js';
import { randomFrom } from '../test/support/random.js';
import { requests, wired } from './rig/measure-views.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { mean, quantile, shown } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Section } from './section.js';

const SEED = 20_261_123;
const WANTED = 10;
const NEAREST = `query ($center: PointInput!) {
  collection(key: "cities") { nearest(center: $center, count: ${WANTED}) { distance node { key } } }
}`;
const WORLD = `{ viewport(bounds: { west: -180, south: -90, east: 180, north: 90 }, zoom: 2) {
  markers(collection: "cities", first: 1) { nodes { key } }
} }`;
/** In oceans, and at the poles. */
const BESIDE_NOTHING: readonly Point[] = [
  { lng: -140, lat: -45 },
  { lng: -123.4, lat: -48.9 },
  { lng: 180, lat: -40 },
  { lng: -180, lat: 30 },
  { lng: 0, lat: 90 },
  { lng: 0, lat: -90 },
  { lng: 90, lat: -35 },
  { lng: -25, lat: -50 },
];

interface Found {
  readonly collection: {
    readonly nearest: readonly { readonly distance: number; readonly node: { readonly key: string } }[];
  };
}

/** Places distributed uniformly over the globe. */
function anywhere(count: number): Point[] {
  const random = randomFrom(SEED);
  return Array.from({ length: count }, () => ({
    lng: random() * 360 - 180,
    lat: (Math.asin(2 * random() - 1) * 180) / Math.PI,
  }));
}

/** Whether these are the nearest in order; markers at the same distance may be swapped. */
function isRight(markers: readonly BenchMarker[], center: Point, { collection: { nearest: found } }: Found): boolean {
  const far = new Map(markers.map(({ key, position }) => [key, distance(center, position)]));
  const right = Float64Array.from(far.values()).sort().subarray(0, WANTED);
  const keys = found.map(({ node }) => node.key);
  return new Set(keys).size === WANTED && right.every((meters, index) => meters === far.get(keys[index] ?? ''));
}

async function measure(rig: Rig, markers: readonly BenchMarker[], centers: readonly Point[]) {
  const calls: number[] = [];
  const units: number[] = [];
  let right = 0;
  for (const center of centers) {
    let found: Found | undefined;
    const wire = await wired(rig, async () => void (found = await rig.ask<Found>(NEAREST, { center })));
    calls.push(requests(wire));
    units.push(wire.readUnits);
    if (found && isRight(markers, center, found)) right++;
  }
  return { calls, units, right };
}

async function run({ quick, say }: BenchOptions): Promise<Section> {
  const markers = cityMarkers().filter((_, index) => !quick || index % 20 === 0);
  const rig = await startRig();
  try {
    say('loading the cities');
    await rig.fill('cities', markers);
    await rig.ask(WORLD);
    const centers = [...BESIDE_NOTHING, ...anywhere(quick ? 60 : 1_000)];
    say(`${centers.length} places`);
    const { calls, units, right } = await measure(rig, markers, centers);
    const most = Math.max(...calls);
    return {
      title: `The ${WANTED} nearest of ${markers.length.toLocaleString('en')} cities at ${centers.length.toLocaleString('en')} places`,
      rows: [
        {
          what: 'places answered correctly',
          bar: 'all',
          measured: String(right),
          against: 'a linear scan',
          holds: right === centers.length,
        },
        {
          what: 'requests, directory in memory, mean',
          bar: 'at most 3',
          measured: shown(mean(calls)),
          against: '',
          holds: mean(calls) <= 3,
        },
        {
          what: 'the same, maximum',
          bar: 'at most 8',
          measured: String(most),
          against: `p90 ${quantile(calls, 0.9)}`,
          holds: most <= 8,
        },
        {
          what: 'read units, mean',
          bar: '',
          measured: shown(mean(units)),
          against: `p90 ${shown(quantile(units, 0.9))}`,
        },
      ],
      isDetail: true,
      text: 'No pages are cached.',
    };
  } finally {
    await rig.close();
  }
}

export const nearest: Benchmark = { name: 'nearest', hasCounts: false, run };
