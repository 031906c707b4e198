import { followEvents } from './event-stream.js';
import type { ServerOptions } from './options.js';
import { request, type ViewportError } from './request.js';
import { COUNTS_LAG } from './tile-cache.js';

interface TileId {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The part of a MapLibre GL JS map used here, so that its types need not be installed. */
export interface RefreshableMap {
  getSource(id: string): unknown;
  coveringTiles(options: { tileSize: number }): readonly { readonly canonical: TileId }[];
  refreshTiles(source: string, tiles?: TileId[]): void;
  isMoving(): boolean;
  on(event: 'movestart', listener: () => void): unknown;
  off(event: 'movestart', listener: () => void): unknown;
}

export interface LiveTilesOptions extends Pick<ServerOptions, 'headers'> {
  /** URL of the collection's tiles, such as /tiles/cities. */
  readonly url: string;
  /** ID of the map's vector source that shows them. */
  readonly source: string;
  /** Called if the server refuses to tell changes, which then end. */
  readonly onError?: ((error: ViewportError) => void) | undefined;
}

/** What a tile shows depends on markers up to so many tiles of its zoom beside it. */
const REACH = 2;

/** Whether a change in one tile may change another one, of any zoom. */
function reaches(changed: TileId, shown: TileId): boolean {
  const [size, other] = [2 ** -changed.z, 2 ** -shown.z];
  const reach = size / 2 + (REACH + 0.5) * other;
  const apart = (axis: 'x' | 'y') => Math.abs((changed[axis] + 0.5) * size - (shown[axis] + 0.5) * other);
  return Math.min(apart('x'), 1 - apart('x')) < reach && apart('y') < reach;
}

/**
 * Keeps the tiles of a MapLibre map as they are on the server, until closed: those that change while they are shown are
 * loaded again, and all of them after changes may have been missed.
 */
export function liveTiles(map: RefreshableMap, { url, source, headers, onError }: LiveTilesOptions): { close(): void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Whether tiles that MapLibre keeps for views of before may be outdated: only loading all drops them. */
  let areKeptStale = false;
  let late: ReturnType<typeof setTimeout> | undefined;
  function refreshAll(): void {
    areKeptStale = false;
    if (map.getSource(source)) map.refreshTiles(source);
  }
  const onMove = () => areKeptStale && refreshAll();
  function refresh(changed: readonly TileId[]): void {
    if (map.isMoving()) return refreshAll();
    areKeptStale = true;
    const shape = map.getSource(source) as { tileSize: number } | undefined;
    const shown = shape ? map.coveringTiles(shape).map(({ canonical }) => canonical) : [];
    const touched = shown.filter((tile) => changed.some((each) => reaches(each, tile)));
    if (touched.length > 0) map.refreshTiles(source, touched);
  }
  async function open(): Promise<Response> {
    const response = await request(`${url}/changes`, headers, signal);
    clearTimeout(late);
    // What was loaded before may lack changes that were not told, which tiles show so much later.
    if (response.ok) late = setTimeout(refreshAll, COUNTS_LAG);
    return response;
  }
  async function follow(): Promise<void> {
    for await (const event of followEvents(open, signal)) {
      const { z, tiles } = event as { z: number; tiles?: readonly (readonly [x: number, y: number])[] };
      if (tiles) refresh(tiles.map(([x, y]) => ({ x, y, z })));
    }
  }
  map.on('movestart', onMove);
  follow().catch((error: ViewportError) => signal.aborted || onError?.(error));
  return {
    close() {
      map.off('movestart', onMove);
      clearTimeout(late);
      stopping.abort();
    },
  };
}
