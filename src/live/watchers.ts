import type { Area } from '../geo/bounds.js';
import { type Point, canonicalLng } from '../geo/point.js';
import type { MarkerEvent } from './change.js';

/** The watchers of a collection's markers, found by the position of a change. */
export interface Watchers<W> {
  add(watcher: W, area: Area | undefined): void;
  remove(watcher: W, area: Area | undefined): void;
  /** All watchers whose rectangles may contain a position of the event, each once; possibly some others. */
  near(event: Pick<MarkerEvent, 'before' | 'after'>): Set<W>;
  isEmpty(): boolean;
}

/** Squares of one degree, counted from -180, -90. */
const COLUMNS = 360;
const ROWS = 180;
/** A watcher with more squares than this is checked for every change. */
const MOST_SQUARES = 64;

const columnOf = (lng: number) => Math.min(COLUMNS - 1, Math.floor(lng) + 180);
const rowOf = (lat: number) => Math.min(ROWS - 1, Math.floor(lat) + 90);
const squareOf = ({ lng, lat }: Point) => rowOf(lat) * COLUMNS + columnOf(canonicalLng(lng));

/** The squares that an area touches; undefined if there are too many. */
function squaresOf(area: Area | undefined): number[] | undefined {
  if (area === undefined) return undefined;
  const squares: number[] = [];
  for (const { west, south, east, north } of area.parts) {
    const [left, right, low, high] = [columnOf(west), columnOf(east), rowOf(south), rowOf(north)];
    if ((right - left + 1) * (high - low + 1) > MOST_SQUARES) return undefined;
    for (let row = low; row <= high; row += 1) {
      for (let column = left; column <= right; column += 1) squares.push(row * COLUMNS + column);
    }
  }
  return squares;
}

export function createWatchers<W>(): Watchers<W> {
  const everywhere = new Set<W>();
  const bySquare = new Map<number, Set<W>>();
  let count = 0;

  return {
    add(watcher, area) {
      count += 1;
      const squares = squaresOf(area);
      if (squares === undefined) everywhere.add(watcher);
      for (const square of squares ?? []) {
        const here = bySquare.get(square);
        if (here === undefined) bySquare.set(square, new Set([watcher]));
        else here.add(watcher);
      }
    },
    remove(watcher, area) {
      count -= 1;
      everywhere.delete(watcher);
      for (const square of squaresOf(area) ?? []) {
        const here = bySquare.get(square);
        here?.delete(watcher);
        if (here?.size === 0) bySquare.delete(square);
      }
    },
    near({ before, after }) {
      const found = new Set(everywhere);
      for (const point of [before, after]) {
        if (point === undefined) continue;
        for (const watcher of bySquare.get(squareOf(point)) ?? []) found.add(watcher);
      }
      return found;
    },
    isEmpty: () => count === 0,
  };
}
