import { areaOverlapsCell, canonicalLng } from '../src/geo/bounds.js';
import { cellBounds, encode } from '../src/geo/geohash.js';
import type { Collection } from '../src/model/collection.js';
import { precisionForZoom } from '../src/plan/precision.js';
import { overlapping } from './overlapping.js';
import {
  areaOf,
  CELLS,
  entryBytes,
  keysIn,
  measureView,
  requests,
  scan,
  type MeasuredView,
} from './rig/measure-views.js';
import { fixedViews, viewsAbout, type View } from './rig/places.js';
import { cityMarkers, type BenchMarker } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { mean, quantile, shown, table } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const COLLECTION = 'cities';
/** The bars apply to maps with at most this many markers inside. */
const MOST_INSIDE = 2_000;
const SEED = 20_261_121;

/** A collection of markers, and the size of their index entries in bytes. */
interface Loaded {
  readonly rig: Rig;
  readonly collection: Collection;
  readonly markers: readonly BenchMarker[];
  readonly bytes: ReadonlyMap<string, number>;
}

const bar = (what: string, measured: number, most: number, against = '', digits = 1): Row => ({
  what,
  bar: `at most ${most}`,
  measured: shown(measured, digits),
  against,
  holds: measured <= most,
});

async function load(quick: boolean): Promise<Loaded> {
  // A quick run uses the 49,025 cities with at least 5,000 inhabitants.
  const markers = cityMarkers().filter(({ properties }) => !quick || Number(properties?.['population']) >= 5_000);
  const rig = await startRig();
  const collection = await rig.fill(COLLECTION, markers);
  return {
    rig,
    collection,
    markers,
    bytes: new Map(markers.map((marker) => [marker.key, entryBytes(rig, collection, marker)])),
  };
}

/** Whether a map returns exactly the markers and cells that a linear scan finds. */
async function isRight({ rig, markers }: Loaded, view: View): Promise<boolean> {
  const { bounds, zoom } = view;
  const inside = scan(markers, view);
  const { viewport } = await rig.ask<{ viewport: { count: number; cells: { geohash: string; count: number }[] } }>(
    `query ($collection: String!, $bounds: BoundsInput!, $zoom: Float!) {
      viewport(bounds: $bounds, zoom: $zoom) { count(collection: $collection) cells(collection: $collection) { geohash count } }
    }`,
    { collection: COLLECTION, bounds, zoom },
  );
  const keys = inside.length <= 5_000 ? await keysIn(rig, COLLECTION, view) : inside.map(({ key }) => key);
  const area = areaOf(view);
  const cells = new Map<string, number>();
  for (const { position } of markers) {
    const geohash = encode({ lng: canonicalLng(position.lng), lat: position.lat }, precisionForZoom(zoom));
    if (areaOverlapsCell(area, cellBounds(geohash))) cells.set(geohash, (cells.get(geohash) ?? 0) + 1);
  }
  const same = (a: readonly string[], b: readonly string[]) => a.toSorted().join('\n') === b.toSorted().join('\n');
  return (
    viewport.count === inside.length &&
    same(
      keys,
      inside.map(({ key }) => key),
    ) &&
    same(
      viewport.cells.map(({ geohash, count }) => `${geohash} ${count}`),
      Array.from(cells, ([geohash, count]) => `${geohash} ${count}`),
    )
  );
}

async function measureAll({ rig, markers, bytes }: Loaded, views: readonly View[]): Promise<MeasuredView[]> {
  const measured: MeasuredView[] = [];
  for (const view of views) {
    const inside = scan(markers, view);
    if (inside.length > MOST_INSIDE) continue;
    const sizes = inside.map(({ key }) => bytes.get(key) ?? 0);
    measured.push(await measureView(rig, COLLECTION, view, sizes));
  }
  return measured;
}

/** Query calls for the cells of maps at random places, most of them empty. */
async function cellQueries({ rig }: Loaded, views: readonly View[]): Promise<number[]> {
  const queries: number[] = [];
  for (const { bounds, zoom } of views) {
    rig.coolDown();
    rig.resetWire();
    await rig.ask(CELLS, { collection: COLLECTION, bounds, zoom });
    queries.push(rig.wire.queries);
  }
  return queries;
}

/** Read units of the same map with 100 B and with 4 KB of properties per marker that no map draws. */
async function unasked({ rig, markers }: Loaded): Promise<{ readonly small: number; readonly large: number }> {
  const near = markers
    .filter(({ position: { lng, lat } }) => lng > -5 && lng < 10 && lat > 45 && lat < 55)
    .slice(0, 1_000);
  const units: number[] = [];
  for (const [key, letters] of [
    ['small', 300],
    ['large', 4_096],
  ] as const) {
    await rig.fill(
      key,
      near.map((marker) => ({ ...marker, properties: { population: 1, note: 'x'.repeat(letters) } })),
    );
    rig.resetWire();
    const bounds = { west: -5, south: 45, east: 10, north: 55 };
    await keysIn(rig, key, { name: key, zoom: 6, bounds });
    units.push(rig.wire.readUnits);
  }
  return { small: units[0] ?? 0, large: units[1] ?? 0 };
}

const ratios = (views: readonly MeasuredView[], state: 'index' | 'cold' | 'known') =>
  views.map((view) => view[state].readUnits / view.floor);

function describe(views: readonly MeasuredView[]): string {
  const states = [
    ['geo index', 'index'],
    ['pages, nothing in memory', 'cold'],
    ['pages, directory in memory', 'known'],
  ] as const;
  const some = views.filter(({ inside }) => inside > 0);
  return table([
    ['read from', 'requests, mean', 'p90', 'max', 'read units / yardstick, mean', 'read units / yardstick, total'],
    ...states.map(([what, state]) => {
      const queries = some.map((view) => requests(view[state]));
      const all = some.reduce((total, view) => total + view[state].readUnits, 0);
      const floor = some.reduce((total, view) => total + view.floor, 0);
      return [
        what,
        shown(mean(queries)),
        quantile(queries, 0.9),
        Math.max(...queries),
        shown(mean(ratios(some, state)), 2),
        shown(all / floor, 2),
      ];
    }),
  ]);
}

async function run({ quick, say }: BenchOptions): Promise<Section> {
  say('loading the cities');
  const loaded = await load(quick);
  const { rig, markers } = loaded;
  try {
    const fixed = fixedViews();
    say(`${fixed.length} maps compared to a linear scan`);
    const right: boolean[] = [];
    for (const view of fixed) right.push(await isRight(loaded, view));
    const anywhere = viewsAbout(markers, 60, SEED + 1).map(({ name, zoom, bounds }, n) => {
      const shift = (n * 47) % 360;
      return { name, zoom, bounds: { ...bounds, west: bounds.west + shift, east: bounds.east + shift } };
    });
    say('cells');
    const cells = await cellQueries(loaded, [...fixed, ...anywhere]);
    say('markers');
    const places = await measureAll(loaded, fixed);
    const about = await measureAll(loaded, viewsAbout(markers, quick ? 60 : 200, SEED));
    const both = [...places, ...about];
    const some = both.filter(({ inside }) => inside > 0);
    const few = both.filter(({ inside }) => inside <= 20);
    const known = some.map((view) => requests(view.known));
    const over = (state: 'cold' | 'known' | 'index') =>
      some.reduce((sum, view) => sum + view[state].readUnits, 0) / some.reduce((sum, { floor }) => sum + floor, 0);
    const loader = await overlapping(rig, loaded.collection, quick);
    const { small, large } = await unasked(loaded);
    const wrong = right.filter((each) => !each).length;
    say(`query calls and read units by state of the server:\n${describe(both)}`);
    return {
      title: `Viewports over ${markers.length.toLocaleString('en')} cities`,
      rows: [
        {
          what: `correct maps, of ${right.length} from zoom 2 to 18`,
          bar: 'all',
          measured: String(right.length - wrong),
          against: '',
          holds: wrong === 0,
        },
        bar("Query calls for a map's cells, without caches, mean", mean(cells), 4),
        bar('the same, maximum', Math.max(...cells), 16, '', 0),
        bar('requests for its markers, directory in memory, mean', mean(known), 2.5),
        { ...bar('the same, p90', quantile(known, 0.9), 5, '', 0), isDetail: true },
        bar(
          'read units for the same, relative to the yardstick',
          over('known'),
          0.55,
          `geo index ${shown(over('index'), 2)}`,
          2,
        ),
        bar('the same with nothing in memory', over('cold'), 0.95, 'yardstick 1', 2),
        {
          ...bar(
            'read units of 0 to 20 markers',
            mean(few.map((view) => view.known.readUnits)),
            1,
            `yardstick ${shown(mean(few.map((view) => view.floor)))}`,
            2,
          ),
          isDetail: true,
        },
        ...loader.map((row) => ({ ...row, isDetail: true })),
        bar('read units with 4 KB of unrequested properties against 300 B', large / small, 1.1, shown(small), 2),
      ],
      text: `Maps have 1280x800 px. Those for markers are ${both.length}, fixed and around random cities, with at most ${MOST_INSIDE.toLocaleString('en')} inside.`,
    };
  } finally {
    await rig.close();
  }
}

export const viewports: Benchmark = { name: 'viewports', hasCounts: true, run };
