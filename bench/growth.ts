import { writeFile } from 'node:fs/promises';

import type { Collection } from '../src/model/collection.js';
import { chart } from './rig/chart.js';
import { entryBytes, keysIn, measureView, requests, scan, wired, type MeasuredView } from './rig/measure-views.js';
import { viewOf, viewsAbout, type View } from './rig/places.js';
import { pointsAroundCities, type BenchMarker } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { mean, quantile, shown } from './rig/statistics.js';
import type { Wire } from './rig/wire.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const SEED = 7;
const SIZES = [10_000, 100_000, 1_000_000];
const CHART = 'docs/growth.svg';
/** Read units of these counts before pages were introduced. */
const COUNT_UNITS = [5.5, 16, 47];
const AUTO = `query ($collection: String!, $bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    auto(collection: $collection, limit: 500) { mode total markers { key } clusters { count } }
  }
}`;

/** The cost of the same maps at one collection size. */
export interface Size {
  readonly markers: number;
  /** Maps that fail because an exact count would read too much. */
  readonly refused: number;
  readonly queries: number;
  readonly readUnits: number;
  readonly p50: number;
  readonly p99: number;
}

/** Whether a query succeeds; false if it fails because an exact answer would read too much. */
async function isAnswered(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (!(error instanceof Error) || error.cause !== 'LIMIT_EXCEEDED') throw error;
    return false;
  }
}

/** Draws each map twice with `auto` and measures the second time. */
export async function measureSize(rig: Rig, count: number, views: readonly View[]): Promise<Size> {
  const ask = ({ bounds, zoom }: View) => rig.ask(AUTO, { collection: 'points', bounds, zoom });
  let refused = 0;
  const queries: number[] = [];
  const readUnits: number[] = [];
  const times: number[] = [];
  for (const view of views) {
    if (!(await isAnswered(() => ask(view)))) {
      refused++;
      continue;
    }
    const wire = await wired(rig, async () => {
      const begun = performance.now();
      await ask(view);
      times.push(performance.now() - begun);
    });
    queries.push(wire.queries);
    readUnits.push(wire.readUnits);
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { markers: count, refused, queries: mean(queries), readUnits: mean(readUnits), p50, p99 };
}

/** Maps with at most this many markers are compared to the yardstick. */
const MOST_INSIDE = 2_000;

/** The cost of the maps' markers relative to the minimum, like for the cities. */
async function againstFloor(rig: Rig, collection: Collection, markers: readonly BenchMarker[], views: readonly View[]) {
  const measured: MeasuredView[] = [];
  for (const view of views) {
    const inside = scan(markers, view);
    if (inside.length === 0 || inside.length > MOST_INSIDE) continue;
    const sizes = inside.map((marker) => entryBytes(rig, collection, marker));
    measured.push(await measureView(rig, collection.key, view, sizes));
  }
  const calls = measured.map(({ known }) => requests(known));
  const row = (what: string, value: number, most: number, digits: number, against = ''): Row => ({
    what,
    bar: `at most ${most}`,
    measured: shown(value, digits),
    against,
    holds: value <= most,
  });
  const floor = measured.reduce((sum, view) => sum + view.floor, 0);
  const over = (state: 'index' | 'cold' | 'known') =>
    measured.reduce((sum, view) => sum + view[state].readUnits, 0) / floor;
  const where = `${measured.length} maps of ${markers.length.toLocaleString('en')} points`;
  return [
    row(`requests for the markers of ${where}, mean`, mean(calls), 4, 1),
    row('the same, p90', quantile(calls, 0.9), 7, 0),
    row(
      'read units for the same, relative to the yardstick',
      over('known'),
      0.7,
      2,
      `geo index ${shown(over('index'), 2)}`,
    ),
  ];
}

/** The map around a place whose number of markers is closest to a target, by bisecting the zoom. */
function holding(count: number, [name, lng, lat]: readonly [string, number, number], markers: readonly BenchMarker[]) {
  let low = 0;
  let high = 12;
  for (let step = 0; step < 14; step++) {
    const zoom = (low + high) / 2;
    if (scan(markers, viewOf(name, lng, lat, zoom)).length > count) low = zoom;
    else high = zoom;
  }
  return viewOf(name, lng, lat, (low + high) / 2);
}

interface Counted {
  readonly view: View;
  /** Undefined if it fails. */
  readonly count: number | undefined;
  readonly right: boolean;
  readonly cold: Wire;
  readonly warm: Wire;
}

/** The cost of an exact count of 100,000 markers, without caches and with cells cached. */
async function exactCounts(rig: Rig, markers: readonly BenchMarker[]): Promise<Counted[]> {
  const found: Counted[] = [];
  for (const place of [
    ['Delhi', 77.2, 28.6],
    ['São Paulo', -46.6, -23.5],
    ['Milan', 9.2, 45.5],
  ] as const) {
    const view = holding(100_000, place, markers);
    const { bounds, zoom } = view;
    const query = `query ($bounds: BoundsInput!, $zoom: Float!) { viewport(bounds: $bounds, zoom: $zoom) { count(collection: "points") } }`;
    let count: number | undefined;
    const ask = async () => {
      ({ count } = (await rig.ask<{ viewport: { count: number } }>(query, { bounds, zoom })).viewport);
    };
    rig.coolDown();
    const cold = await wired(rig, () => isAnswered(ask));
    const warm = await wired(rig, () => isAnswered(ask));
    found.push({ view, count, right: count === scan(markers, view).length, cold, warm });
  }
  return found;
}

/** Markers near a place, shown on maps there, and ten times as many at least one map away. */
function nearAndFar(): { readonly near: BenchMarker[]; readonly far: BenchMarker[]; readonly views: readonly View[] } {
  const views = [8, 9, 10, 11].map((zoom) => viewOf('Poznań', 16.93, 52.41, zoom));
  const { west, east, south, north } = views[0]?.bounds ?? { west: 0, east: 0, south: 0, north: 0 };
  const near: BenchMarker[] = [];
  const far: BenchMarker[] = [];
  for (const marker of pointsAroundCities(400_000, SEED)) {
    const { lng, lat } = marker.position;
    const aside = Math.max(west - lng, lng - east) / (east - west);
    const above = Math.max(south - lat, lat - north) / (north - south);
    if (Math.max(aside, above) <= 0 && near.length < 500) near.push(marker);
    if (Math.max(aside, above) >= 1 && Math.max(aside, above) < 12 && far.length < 5_000) far.push(marker);
  }
  return { near, far, views };
}

/** The cost of maps without and with ten times the markers elsewhere. */
async function elsewhere(): Promise<readonly Row[]> {
  const { near, far, views } = nearAndFar();
  const rig = await startRig();
  try {
    await rig.fill('alone', near);
    await rig.fill('among', [...near, ...far.slice(0, near.length * 10)]);
    const of = async (collection: string) => {
      let queries = 0;
      let readUnits = 0;
      for (const view of views) {
        await draw(rig, collection, view);
        const wire = await wired(rig, () => draw(rig, collection, view));
        queries += wire.queries;
        readUnits += wire.readUnits;
      }
      return { queries, readUnits };
    };
    const alone = await of('alone');
    const among = await of('among');
    const what = `${near.length} markers, with ten times as many elsewhere`;
    return [
      {
        what: `Query calls of ${views.length} maps with ${what}`,
        bar: 'no more',
        measured: String(among.queries),
        against: `without those ${alone.queries}`,
        holds: among.queries <= alone.queries,
      },
      {
        what: 'read units for the same',
        bar: 'at most 1.1 times',
        measured: shown(among.readUnits / alone.readUnits, 2),
        against: `without those ${shown(alone.readUnits)}`,
        holds: among.readUnits <= 1.1 * alone.readUnits,
      },
    ];
  } finally {
    await rig.close();
  }
}

async function draw(rig: Rig, collection: string, view: View): Promise<void> {
  await rig.ask(
    `query ($collection: String!, $bounds: BoundsInput!, $zoom: Float!) {
      viewport(bounds: $bounds, zoom: $zoom) { cells(collection: $collection) { geohash } }
    }`,
    { collection, bounds: view.bounds, zoom: view.zoom },
  );
  await keysIn(rig, collection, view);
}

async function run({ quick, say }: BenchOptions): Promise<Section> {
  say('markers elsewhere');
  const rows = [...(await elsewhere())];
  const sizes: Size[] = [];
  const counted: Counted[] = [];
  if (!quick) {
    const views = viewsAbout([...pointsAroundCities(SIZES[0] ?? 0, SEED)], 120, SEED);
    // Largest first; the others are quick.
    for (const count of SIZES.toReversed()) {
      say(`${count.toLocaleString('en')} markers`);
      const rig = await startRig();
      try {
        const collection = await rig.fill('points', pointsAroundCities(count, SEED));
        say('measuring');
        sizes.unshift(await measureSize(rig, count, views));
        if (count !== SIZES.at(-1)) continue;
        const markers = [...pointsAroundCities(count, SEED)];
        rows.push(...(await againstFloor(rig, collection, markers, views)));
        say('exact counts');
        counted.push(...(await exactCounts(rig, markers)));
      } finally {
        await rig.close();
      }
    }
    await writeFile(CHART, await chart(sizes));
  }
  const units = counted.map(({ warm }) => warm.readUnits);
  return {
    title: 'Growth',
    isDetail: true,
    rows: [
      ...rows,
      ...(quick
        ? []
        : [
            {
              what: `read units of counting 100,000 of them around ${counted.map(({ view }) => view.name).join(', ')}, cells cached`,
              bar: `at most ${COUNT_UNITS.map((most) => shown(most)).join(', ')}`,
              measured: units.map((each) => shown(each)).join(', '),
              against: 'reading them: 2,000',
              holds: counted.every(({ right }, index) => right && (units[index] ?? 0) <= (COUNT_UNITS[index] ?? 0)),
            },
          ]),
    ],
    text: '![Query calls, read units and time of a map by number of markers](../docs/growth.svg)',
    details: `Query calls of these counts: ${counted.map(({ warm }) => warm.queries).join(', ')}; without caches ${counted.map(({ cold }) => cold.queries).join(', ')}.`,
  };
}

export const growth: Benchmark = { name: 'growth', hasCounts: true, run };
