import { isInMercator, nameOf, tileAt, unitAt } from '../../src/geo/tiles.js';
import { decodeLayer } from '../../test/support/decode-tile.js';
import type { BenchMarker } from '../rig/points.js';
import { bytesOf, type TileServer } from './server.js';

/**
 * The sum of what the tiles of a zoom say they stand for: those with markers, and those beside tiles that show clusters, as a
 * cluster may lie where there is no marker.
 */
export async function sumOfZoom({ ask }: TileServer, markers: readonly BenchMarker[], z: number): Promise<number> {
  const count = 2 ** z;
  const names = new Set(
    markers
      .filter(({ position }) => isInMercator(position))
      .map(({ position }) => nameOf(tileAt(unitAt(position, z), z))),
  );
  let sum = 0;
  // A set goes on with what is added meanwhile.
  for (const name of names) {
    const answer = await ask({ url: `/tiles/cities/${z}/${name}` });
    sum += Number(answer.headers['x-cellport-count']);
    if (decodeLayer(bytesOf(answer), 'clusters').length === 0) continue;
    const [x = 0, y = 0] = name.split('/').map(Number);
    for (const column of [x - 1, x, x + 1]) {
      for (const row of [y - 1, y, y + 1]) {
        if (row >= 0 && row < count) names.add(`${(column + count) % count}/${row}`);
      }
    }
  }
  return sum;
}
