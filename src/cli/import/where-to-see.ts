import type { Config } from '../../config.js';
import { latToY, lngToX, worldSize, xToLng, yToLat } from '../../geo/mercator.js';
import type { RowPosition } from '../../ingest/rows/position.js';
import { urlOf } from '../../loopback.js';
import type { Collection } from '../../model/collection.js';

/** Map size in px that fits any window. */
const MAP_PX = 480;
const CLOSEST_ZOOM = 15;
const ANSWERS_WITHIN_MS = 1_000;

/** The bounding box of the imported positions. */
export class Extent {
  #south = Infinity;
  #north = -Infinity;
  /** Two boxes, measured from the antimeridian and from Greenwich: at least one of them is not cut in two. */
  readonly #world = { west: Infinity, east: -Infinity };
  readonly #pacific = { west: Infinity, east: -Infinity };

  add({ lng, lat }: RowPosition): void {
    if (typeof lng !== 'number' || typeof lat !== 'number' || Math.abs(lng) > 180 || Math.abs(lat) > 90) return;
    this.#south = Math.min(this.#south, lat);
    this.#north = Math.max(this.#north, lat);
    for (const [edges, from] of [
      [this.#world, lng],
      [this.#pacific, lng < 0 ? lng + 360 : lng],
    ] as const) {
      edges.west = Math.min(edges.west, from);
      edges.east = Math.max(edges.east, from);
    }
  }

  /**
   * The fragment of the map page's URL that shows the whole extent (zoom, latitude, longitude); undefined if it is
   * empty.
   */
  get at(): string | undefined {
    if (this.#south > this.#north) return undefined;
    const [world, pacific] = [this.#world, this.#pacific];
    const { west, east } = pacific.east - pacific.west < world.east - world.west ? pacific : world;
    const [top, bottom] = [latToY(this.#north, 0), latToY(this.#south, 0)];
    const size = Math.max(lngToX(east, 0) - lngToX(west, 0), bottom - top);
    const zoom = Math.min(CLOSEST_ZOOM, Math.max(0, Math.floor(Math.log2(MAP_PX / size))));
    const lng = xToLng((lngToX(west, 0) + lngToX(east, 0)) / 2, 0);
    const lat = yToLat(Math.min(worldSize(0), (top + bottom) / 2), 0);
    return `${zoom}/${lat.toFixed(4)}/${(lng > 180 ? lng - 360 : lng).toFixed(4)}`;
  }
}

const serverOf = ({ http: { host, port } }: Config): string =>
  urlOf(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port);

/** Whether the configured server runs and has this very collection. */
export async function isServed(config: Config, { key, createdAt }: Collection): Promise<boolean> {
  try {
    const response = await fetch(`${serverOf(config)}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: 'query ($key: String!) { collection(key: $key) { createdAt } }',
        variables: { key },
      }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const { data } = (await response.json()) as { data?: { collection?: { createdAt?: string } | null } };
    return data?.collection?.createdAt === createdAt;
  } catch {
    return false;
  }
}

/** A line with the link to a collection on the map and, if no server runs, how to start one. */
export function whereToSee(config: Config, { key }: Collection, at: string | undefined, served: boolean): string {
  const link = `${serverOf(config)}/#${at === undefined ? '' : `at=${at}&`}on=${encodeURIComponent(key)}`;
  return served ? `view it: ${link}` : `to view it, run \`cellport serve\` and open ${link}`;
}
