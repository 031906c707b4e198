import type { Point } from './bounds.js';

/** Which quarter of a square, 2 * i + j, the Hilbert curve visits in turn, in each of its four orientations. */
const QUARTERS = ['0132', '0231', '3201', '3102'];
/** How the orientation changes in the quarter visited in turn. */
const TURNS = [1, 0, 0, 3];
const LEVELS = 30;
const FACES = 6n;
const DEGREES = 180 / Math.PI;

/** The plane coordinate of a cell's edge, from the number of cells before it. S2's quadratic projection. */
function planeOf(cells: number): number {
  const s = cells / 2 ** LEVELS;
  return s >= 0.5 ? (4 * s * s - 1) / 3 : (1 - 4 * (1 - s) * (1 - s)) / 3;
}

/**
 * The center of an S2 leaf cell, about a centimeter wide, by its ID as a signed or unsigned integer of 64 bits; undefined
 * for any other number. After https://s2geometry.io/devguide/s2cell_hierarchy.
 */
export function leafCellCenter(id: bigint): Point | undefined {
  const unsigned = BigInt.asUintN(64, id);
  const face = Number(unsigned >> 61n);
  if ((unsigned !== id && BigInt.asIntN(64, id) !== id) || unsigned % 2n === 0n || unsigned >> 61n >= FACES)
    return undefined;
  let [i, j, orientation] = [0, 0, face % 2];
  for (let level = LEVELS - 1; level >= 0; level--) {
    const turn = Number((unsigned >> BigInt(2 * level + 1)) & 3n);
    const quarter = Number(QUARTERS[orientation]?.charAt(turn));
    i = 2 * i + (quarter >> 1);
    j = 2 * j + (quarter & 1);
    orientation ^= TURNS[turn] ?? 0;
  }
  const [u, v] = [planeOf(i + 0.5), planeOf(j + 0.5)];
  const faces = [
    [1, u, v],
    [-u, 1, v],
    [-u, -v, 1],
    [-1, -v, -u],
    [v, -1, -u],
    [v, u, -1],
  ];
  const [x = 0, y = 0, z = 0] = faces[face] ?? [];
  return { lng: Math.atan2(y, x) * DEGREES, lat: Math.atan2(z, Math.hypot(x, y)) * DEGREES };
}
