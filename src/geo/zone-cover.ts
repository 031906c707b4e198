import type { Bounds, Point } from './bounds.js';
import { halves, WORLD, type Halving, type Relation } from './cover.js';
import { cellBounds, encode, fromZ, GEOHASH_ALPHABET } from './geohash.js';
import { least, most, type Part } from './paths.js';
import type { Steps } from './steps.js';

/**
 * Lengths of the geohashes that cover zones. They are the same for all zones, so that one Query per length finds every
 * zone that can contain a position. With 2, 4 and 6 characters, 16 cells could not cover the globe; with 1, 4 and 6 a
 * Query would read up to 3,000 zones of 90 km, with 1, 3 and 6 up to 3,600 of 2.5 km, because they lie side by side in
 * one cell.
 */
export const COVER_LENGTHS = [1, 3, 5] as const;

/** Maximum number of cells that cover one zone. */
export const MOST_COVERS = 16;

/** Bits of a geohash by length; at length 1, two neighboring cells count as one, so that 16 cover the globe. */
const BITS: Readonly<Record<number, number>> = { 1: 4, 3: 15, 5: 25 };

/** One of the cells that cover a zone. */
export interface Cover {
  /** One of the three lengths. A single character denotes its cell and the one to the east. */
  readonly geohash: string;
  /** The bounding box of the part of the zone in this cell: west <= east. */
  readonly box: Bounds;
}

/** The part of a zone's shape that is needed to cover it. */
export interface Coverable {
  relationToCell(cell: Bounds): Relation;
}

/** The character that denotes a pair of cells: the western cell's. */
function pairOf(geohash: string): string {
  const value = GEOHASH_ALPHABET.indexOf(geohash.charAt(0));
  return GEOHASH_ALPHABET.charAt(value - (value % 2));
}

/** The last cell of its length that a geohash of a cover denotes. */
export function lastInCover(geohash: string): string {
  if (geohash.length !== 1) return geohash;
  return GEOHASH_ALPHABET.charAt(GEOHASH_ALPHABET.indexOf(geohash) + 1);
}

/** The edges of a cell of a cover in degrees. */
export function coverBounds(geohash: string): Bounds {
  const bounds = cellBounds(geohash);
  return geohash.length > 1 ? bounds : { ...bounds, east: 2 * bounds.east - bounds.west };
}

/** The covering cells, one of each length, of any zone that contains a position. */
export function coversOfPoint(point: Point): string[] {
  const [, ...lengths] = COVER_LENGTHS;
  const geohash = encode(point, 5);
  return [pairOf(geohash), ...lengths.map((length) => geohash.slice(0, length))];
}

/** The rectangles of `depth` bits within another one that a shape touches; undefined if there are more than `limit`. */
function* touched(shape: Coverable, within: Halving, depth: number, limit: number): Steps<Halving[] | undefined> {
  const found: Halving[] = [];
  const open: { readonly halving: Halving; readonly inside: boolean }[] = [{ halving: within, inside: false }];
  for (let next = open.pop(); next; next = open.pop()) {
    yield;
    const { halving } = next;
    const relation = next.inside ? 'inside' : shape.relationToCell(halving);
    if (relation === 'outside') continue;
    if (relation === 'inside' && found.length + 2 ** (depth - halving.depth) > limit) return undefined;
    if (halving.depth === depth) {
      if (found.length === limit) return undefined;
      found.push(halving);
    } else {
      for (const half of halves(halving)) open.push({ halving: half, inside: relation === 'inside' });
    }
  }
  return found;
}

/** Longitudes of a part continue up to 540, so the same box is also tried one turn farther west. */
const TURNS = [0, 360] as const;

/** The bounding box of the intersections of boxes with a cell; the cell itself if there are none. */
function boxInCell(boxes: readonly Bounds[], cell: Bounds): Bounds {
  const inCell = boxes.flatMap((box) =>
    TURNS.map((turn) => ({
      west: Math.max(box.west - turn, cell.west),
      south: Math.max(box.south, cell.south),
      east: Math.min(box.east - turn, cell.east),
      north: Math.min(box.north, cell.north),
    })).filter(({ west, south, east, north }) => west <= east && south <= north),
  );
  const [first = cell, ...rest] = inCell;
  return rest.reduce(
    (a, b) => ({
      west: Math.min(a.west, b.west),
      south: Math.min(a.south, b.south),
      east: Math.max(a.east, b.east),
      north: Math.max(a.north, b.north),
    }),
    first,
  );
}

function boxOf({ paths: [{ lngs, lats }] }: Part): Bounds {
  return { west: least(lngs), south: least(lats), east: most(lngs), north: most(lats) };
}

/**
 * At most 16 cells that cover a zone, in steps: every position in it belongs to one of them. Starts with the largest
 * cells that the zone touches, and repeatedly replaces the cell that needs the fewest smaller ones, as long as the limit
 * allows.
 */
export function* coverZone(shape: Coverable, parts: readonly Part[]): Steps<Cover[]> {
  const [coarsest] = COVER_LENGTHS;
  const cells = ((yield* touched(shape, WORLD, BITS[coarsest] ?? 0, MOST_COVERS)) ?? []).map((halving) => ({
    halving,
    length: coarsest as number,
  }));
  for (;;) {
    const room = MOST_COVERS - cells.length + 1;
    const finer: { readonly index: number; readonly to: number; readonly inside: readonly Halving[] }[] = [];
    for (const [index, { halving, length }] of cells.entries()) {
      const to = length + 2;
      const bits = BITS[to];
      const inside = bits === undefined ? undefined : yield* touched(shape, halving, bits, room);
      // Rounding may find that the zone touches no smaller cell: keep the larger one.
      if (inside && inside.length > 0) finer.push({ index, to, inside });
    }
    const [first] = finer.toSorted((a, b) => a.inside.length - b.inside.length);
    if (!first) break;
    cells.splice(first.index, 1, ...first.inside.map((halving) => ({ halving, length: first.to })));
  }
  const boxes = parts.map(boxOf);
  return cells.map(({ halving, length }) => {
    const geohash = length === coarsest ? fromZ(2 * halving.z, coarsest) : fromZ(halving.z, length);
    return { geohash, box: boxInCell(boxes, coverBounds(geohash)) };
  });
}
