import { createViewport, type Cost } from '../src/client/public.js';
import { levelAt, tileKeys, tilesOver } from '../src/client/tiles.js';
import type { Bounds, Point } from '../src/geo/bounds.js';
import { cityMarkers } from './rig/points.js';
import { startRig, type Rig } from './rig/rig.js';
import { shown, sum } from './rig/statistics.js';
import type { Benchmark, BenchOptions, Row, Section } from './section.js';

const STEPS = 30;
const ZOOM = 10;
const PADDING = 64;
/** Markers farther than this from London are not loaded: the walk never reads them. */
const NEAR_DEGREES = 3;
const WIDTH = 1280;
const HEIGHT = 800;

/** A walk over London in steps of an eighth of the screen: east, north, west, south and back. */
function walk(): Bounds[] {
  const lngPerPx = 360 / (512 * 2 ** ZOOM);
  const latPerPx = lngPerPx * Math.cos((51.5 * Math.PI) / 180);
  const ways = [
    [1, 0],
    [0, 1],
    [-1, 0],
    [0, -1],
  ] as const;
  let x = 0;
  let y = 0;
  return Array.from({ length: STEPS }, (_, step) => {
    const [byX, byY] = ways[Math.floor(step / 8) % 4] ?? [0, 0];
    x += (byX * WIDTH) / 8;
    y += (byY * HEIGHT) / 8;
    const lng = -0.12 + x * lngPerPx;
    const lat = 51.5 + y * latPerPx;
    return {
      west: lng - (WIDTH / 2) * lngPerPx,
      east: lng + (WIDTH / 2) * lngPerPx,
      south: lat - (HEIGHT / 2) * latPerPx,
      north: lat + (HEIGHT / 2) * latPerPx,
    };
  });
}

interface Walked {
  readonly requests: number;
  readonly queries: number;
  readonly readUnits: number;
  readonly cacheHits: number;
  /** Tiles of all steps. */
  readonly tiles: number;
  /** Tiles that were requested. */
  readonly requested: number;
}

const AUTO = `query ($bounds: BoundsInput!, $zoom: Float!) {
  viewport(bounds: $bounds, zoom: $zoom) {
    auto(collection: "cities") {
      markers { id name position { lng lat } }
      clusters { position { lng lat } count bounds { west south east north } }
    }
  }
}`;

const COST = { 'x-cellport-cost': '1' };

const costOf = (text: string) => (JSON.parse(text) as { readonly extensions: { readonly cost: Cost } }).extensions.cost;

const sumOf = (costs: readonly Cost[], figure: keyof Cost) => sum(costs.map((cost) => cost[figure]));

const totalOf = (costs: readonly Cost[]) => ({
  requests: costs.length,
  queries: sumOf(costs, 'queries'),
  readUnits: sumOf(costs, 'readUnits'),
  cacheHits: sumOf(costs, 'cacheHits'),
});

const tilesOf = (bounds: Bounds) => tileKeys(tilesOver(bounds, ZOOM, PADDING, levelAt(ZOOM)));

/** A map that requests its exact bounds after each step. */
async function walkPlainly(rig: Rig): Promise<Walked> {
  const costs: Cost[] = [];
  let tiles = 0;
  for (const bounds of walk()) {
    tiles += tilesOf(bounds).length;
    costs.push(costOf(await rig.post({ query: AUTO, variables: { bounds, zoom: ZOOM } }, COST)));
  }
  return { ...totalOf(costs), tiles, requested: tiles };
}

/** A map with `cellport/client` and the same server. */
async function walkWithClient(rig: Rig): Promise<Walked> {
  const costs: Cost[] = [];
  const real = globalThis.fetch;
  globalThis.fetch = async (_url, init) => {
    const text = await rig.post(JSON.parse(init?.body as string), COST);
    costs.push(costOf(text));
    return new Response(text);
  };
  const viewport = createViewport({ url: 'http://cellport/graphql', collection: 'cities', live: false, debounce: 0 });
  const known = new Set<string>();
  let tiles = 0;
  try {
    for (const bounds of walk()) {
      const wanted = tilesOf(bounds);
      tiles += wanted.length;
      const asks = wanted.some((key) => !known.has(key));
      const before = costs.length;
      viewport.view(bounds, ZOOM);
      while (asks && (costs.length === before || viewport.state.loading)) await new Promise((go) => setTimeout(go, 1));
      if (viewport.state.error) throw viewport.state.error;
      for (const key of wanted) known.add(key);
    }
  } finally {
    viewport.close();
    globalThis.fetch = real;
  }
  return { ...totalOf(costs), tiles, requested: known.size };
}

/** The share of tiles that needed no read, because the client or the server had cached them. */
const fromCache = ({ tiles, requested, queries, cacheHits }: Walked) =>
  (tiles - requested + (requested * cacheHits) / Math.max(1, cacheHits + queries)) / tiles;

const percent = (share: number) => `${Math.round(100 * share)}%`;

async function run({ say }: BenchOptions): Promise<Section> {
  const rig = await startRig();
  try {
    say('loading the cities');
    const isNear = ({ lng, lat }: Point) => Math.hypot(lng + 0.12, lat - 51.5) < NEAR_DEGREES;
    await rig.fill(
      'cities',
      cityMarkers().filter(({ position }) => isNear(position)),
    );
    say('walking over London');
    rig.coolDown();
    const plain = await walkPlainly(rig);
    rig.coolDown();
    const client = await walkWithClient(rig);
    const rows: Row[] = [
      {
        what: `cells from a cache in ${STEPS} steps over London with cellport/client`,
        bar: 'at least 60%',
        measured: percent(fromCache(client)),
        against: `exact bounds ${percent(fromCache(plain))}`,
        holds: fromCache(client) >= 0.6,
      },
      {
        what: 'requests',
        bar: '',
        measured: String(client.requests),
        against: `exact bounds ${plain.requests}`,
      },
      {
        what: 'Query calls',
        bar: 'fewer than for exact bounds',
        measured: String(client.queries),
        against: `exact bounds ${plain.queries}`,
        holds: client.queries < plain.queries,
      },
      {
        what: 'read units',
        bar: '',
        measured: shown(client.readUnits),
        against: `exact bounds ${shown(plain.readUnits)}`,
      },
    ];
    return { title: 'Panning', rows, text: '', isDetail: true };
  } finally {
    await rig.close();
  }
}

/** The cost of a walk over a city with and without the client. */
export const pans: Benchmark = { name: 'pans', hasCounts: true, run };
