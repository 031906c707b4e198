import { createViewport, type ViewportOptions } from '../../src/client/public.js';
import { latToY, lngToX } from '../../src/geo/mercator.js';
import { snappedMap } from '../../src/map/tiles/snapped-map.js';
import type { View } from '../rig/places.js';
import type { BenchMarker } from '../rig/points.js';
import { walker } from '../rig/walker.js';
import { textOf, type Asked, type TileServer } from './server.js';

/** The maps that some users look at, one list for each. */
export const walksOf = (cities: readonly BenchMarker[], users: number, views: number): View[][] =>
  Array.from({ length: users }, (_, user) => {
    const next = walker(cities, user);
    return Array.from({ length: views }, next);
  });

/** What a user's browser sends who keeps what is loaded. */
const onceEach = (urls: readonly string[]): Asked[] => [...new Set(urls)].map((url) => ({ url }));

const TILE_PX = 512;

/** The tiles that MapLibre loads for a map: those of its zoom, rounded down, that it shows. */
function tilesOf({ bounds, zoom }: View): string[] {
  const z = Math.floor(zoom);
  const count = 2 ** z;
  const [left, right] = [lngToX(bounds.west, z), lngToX(bounds.east, z)].map((x) => Math.floor(x / TILE_PX));
  const [top, bottom] = [latToY(bounds.north, z), latToY(bounds.south, z)].map((y) => Math.floor(y / TILE_PX));
  const tiles: string[] = [];
  for (let x = left ?? 0; x <= (right ?? 0); x++) {
    for (let y = Math.max(0, top ?? 0); y <= Math.min(count - 1, bottom ?? 0); y++) {
      tiles.push(`${z}/${((x % count) + count) % count}/${y}`);
    }
  }
  return tiles;
}

/** Requests of a map with tiles. */
export const byTiles = (views: readonly View[], layers: string): Asked[] =>
  onceEach(views.flatMap(tilesOf).map((tile) => `/tiles/cities/${tile}?layers=${layers}`));

/** Requests of a map that asks for each view at once. */
export const byMaps = (views: readonly View[]): Asked[] =>
  onceEach(
    views.map(({ bounds: { west, south, east, north }, zoom }) => {
      const { bbox } = snappedMap([west, south, east, north].join(','), String(zoom));
      return `/maps/cities?bbox=${bbox}&zoom=${Math.floor(zoom)}`;
    }),
  );

/** Requests of a map with `cellport/client`, as the map page draws. They have to be answered. */
export async function byClient(
  { ask }: TileServer,
  views: readonly View[],
  content: ViewportOptions['content'],
): Promise<Asked[]> {
  const asked: Asked[] = [];
  const real = globalThis.fetch;
  globalThis.fetch = async (_url, init) => {
    const request = { url: '/graphql', body: init?.body as string };
    asked.push(request);
    return new Response(textOf(await ask(request)));
  };
  const viewport = createViewport({ url: '/graphql', collection: 'cities', content, live: false, debounce: 0 });
  const pause = () => new Promise((go) => setTimeout(go, 1));
  try {
    for (const { bounds, zoom } of views) {
      viewport.view(bounds, zoom);
      // It asks after timers of 0 ms.
      do {
        await pause();
        await pause();
      } while (viewport.state.loading);
      if (viewport.state.error) throw viewport.state.error;
    }
  } finally {
    viewport.close();
    globalThis.fetch = real;
  }
  return asked;
}
