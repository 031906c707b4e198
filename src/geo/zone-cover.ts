import type { Bounds } from './bounds.js';
import type { Relation } from './cover.js';
import { GEOHASH_ALPHABET, cellBounds, encode, fromZ } from './geohash.js';
import type { Part } from './paths.js';
import type { Point } from './point.js';

/**
 * Lengths of the geohashes that zones are covered by, the same for all zones, so that one Query for each finds every zone
 * that a position can be in. docs/zones.md says why these.
 */
export const COVER_LENGTHS = [1, 3, 5] as const;

/** Most cells that cover one zone. */
export const MOST_COVERS = 16;

/** Bits of a geohash of each length but the first: there two neighbouring cells are one, so that 16 are the globe. */
const BITS: Readonly<Record<number, number>> = { 1: 4, 3: 15, 5: 25 };

/** One of the cells that cover a zone. */
export interface Cover {
  /** Of one of the three lengths. A single character stands for its cell and the one east of it. */
  readonly geohash: string;
  /** The bounding box of the part of the zone in this cell: west <= east. */
  readonly box: Bounds;
}

/** What has to be known of a zone's shape to cover it. */
export interface Coverable {
  relationToCell(cell: Bounds): Relation;
}

/** The single character that stands for a pair of cells: that of the western one. */
function pairOf(geohash: string): string {
  const value = GEOHASH_ALPHABET.indexOf(geohash.charAt(0));
  return GEOHASH_ALPHABET.charAt(value - (value % 2));
}

/** The last cell of its length that a geohash of a cover stands for. */
export function lastInCover(geohash: string): string {
  if (geohash.length !== 1) return geohash;
  return GEOHASH_ALPHABET.charAt(GEOHASH_ALPHABET.indexOf(geohash) + 1);
}

/** The edges of a cell of a cover in degrees. */
export function coverBounds(geohash: string): Bounds {
  const bounds = cellBounds(geohash);
  return geohash.length > 1 ? bounds : { ...bounds, east: 2 * bounds.east - bounds.west };
}

/** The cells, one of each length, that cover every zone a position can be in. */
export function coversOfPoint(point: Point): string[] {
  const [, ...lengths] = COVER_LENGTHS;
  const geohash = encode(point, 5);
  return [pairOf(geohash), ...lengths.map((length) => geohash.slice(0, length))];
}

/** A rectangle of the halving of the world: its bits so far. */
interface Halving {
  readonly z: number;
  readonly depth: number;
  readonly bounds: Bounds;
}

const WORLD: Halving = { z: 0, depth: 0, bounds: { west: -180, south: -90, east: 180, north: 90 } };

/** The two halves, the western or southern one first: bits halve longitude and latitude in turn. */
function halves({ z, depth, bounds }: Halving): readonly Halving[] {
  const { west, south, east, north } = bounds;
  const lng = (west + east) / 2;
  const lat = (south + north) / 2;
  const [first, second] =
    depth % 2 === 0
      ? [
          { ...bounds, east: lng },
          { ...bounds, west: lng },
        ]
      : [
          { ...bounds, north: lat },
          { ...bounds, south: lat },
        ];
  return [
    { z: 2 * z, depth: depth + 1, bounds: first },
    { z: 2 * z + 1, depth: depth + 1, bounds: second },
  ];
}

/** The rectangles of `depth` bits under one that a shape touches; undefined where there are more than `most`. */
function touched(shape: Coverable, under: Halving, depth: number, most: number): Halving[] | undefined {
  const found: Halving[] = [];
  const open: { readonly halving: Halving; readonly inside: boolean }[] = [{ halving: under, inside: false }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { halving } = next;
    const relation = next.inside ? 'inside' : shape.relationToCell(halving.bounds);
    if (relation === 'outside') continue;
    if (relation === 'inside' && found.length + 2 ** (depth - halving.depth) > most) return undefined;
    if (halving.depth === depth) {
      if (found.length === most) return undefined;
      found.push(halving);
    } else {
      for (const half of halves(halving)) open.push({ halving: half, inside: relation === 'inside' });
    }
  }
  return found;
}

/** Longitudes of a part run on to at most 540: the same box is also tried a turn farther west. */
const TURNS = [0, 360] as const;

function around(boxes: readonly Bounds[], cell: Bounds): Bounds {
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
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  for (const lng of lngs) {
    box.west = Math.min(box.west, lng);
    box.east = Math.max(box.east, lng);
  }
  for (const lat of lats) {
    box.south = Math.min(box.south, lat);
    box.north = Math.max(box.north, lat);
  }
  return box;
}

/**
 * At most 16 cells that cover a zone: every position in it belongs to one of them. It begins with the largest cells that
 * it touches, and each is replaced by the next smaller ones in it, those first that fewest take the place of, as long as
 * there are not too many.
 */
export function coverZone(shape: Coverable, parts: readonly Part[]): Cover[] {
  const [coarsest] = COVER_LENGTHS;
  const cells = (touched(shape, WORLD, BITS[coarsest] ?? 0, MOST_COVERS) ?? []).map((halving) => ({
    halving,
    length: coarsest as number,
  }));
  for (;;) {
    const room = MOST_COVERS - cells.length + 1;
    const finer = cells.flatMap(({ halving, length }, index) => {
      const to = length + 2;
      const bits = BITS[to];
      const inside = bits === undefined ? undefined : touched(shape, halving, bits, room);
      // None at all where rounding has it beside the cell after all: that one stays.
      return inside && inside.length > 0 ? [{ index, to, inside }] : [];
    });
    const [first] = finer.toSorted((a, b) => a.inside.length - b.inside.length);
    if (!first) break;
    cells.splice(first.index, 1, ...first.inside.map((halving) => ({ halving, length: first.to })));
  }
  const boxes = parts.map(boxOf);
  return cells.map(({ halving, length }) => {
    const geohash = length === coarsest ? fromZ(2 * halving.z, coarsest) : fromZ(halving.z, length);
    return { geohash, box: around(boxes, coverBounds(geohash)) };
  });
}
