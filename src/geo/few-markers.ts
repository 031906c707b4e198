import { UNSHIFTED, windowAt, windowsAround, type Windows } from './cluster-windows.js';
import { cellsOf, ofCell, type Group } from './groups.js';
import { worldSize, type Pixel } from './mercator.js';
import type { Steps } from './steps.js';

/** Groups with at most this many markers are drawn as individual markers where these fit. */
const FEW = 3;
/** Number of groups handled in one step. */
const STEP = 256;

interface Drawn {
  readonly group: Group;
  /** Its markers if they could be drawn individually, regardless of other groups. */
  readonly markers: readonly Group[];
  readonly window: number;
}

/** The distance in px around the cylinder of Mercator's world. */
function apart(a: Pixel, b: Pixel, world: number): number {
  const across = Math.abs(a.x - b.x);
  return Math.hypot(Math.min(across, world - across), a.y - b.y);
}

/**
 * The group's markers if there are few and each is alone in its cell: only then do the cells' sums give positions.
 */
function markersOf(group: Group, { spacing: { zoom, distance } }: Windows): readonly Group[] {
  if (group.count === 1 || group.count > FEW) return [];
  const cells = cellsOf(group);
  if (cells.length < group.count) return [];
  const world = worldSize(zoom);
  const markers = cells.map((cell) => ofCell(cell, zoom));
  const fit = markers.every(
    (marker, index) =>
      apart(marker, group, world) <= distance / 2 &&
      markers.every((other, nth) => nth >= index || apart(marker, other, world) >= distance / 3),
  );
  return fit ? markers : [];
}

/**
 * Splits groups of two or three markers if these are a third of the distance away from all other markers, and two
 * thirds from the remaining groups.
 */
export function* takeApart(groups: readonly Group[], windows: Windows): Steps<Group[]> {
  const { zoom, distance } = windows.spacing;
  const world = worldSize(zoom);
  const near = new Map<number, Drawn[]>();
  const all: Drawn[] = [];
  for (const group of groups) {
    const window = windowAt(windows, UNSHIFTED, group);
    const drawn = { group, markers: markersOf(group, windows), window };
    all.push(drawn);
    const others = near.get(window);
    if (others) others.push(drawn);
    else near.set(window, [drawn]);
  }
  const result: Group[] = [];
  for (const [index, { group, markers, window }] of all.entries()) {
    if (index % STEP === STEP - 1) yield;
    const others =
      markers.length === 0 ? [] : [...windowsAround(windows, window)].flatMap((each) => near.get(each) ?? []);
    const fits = others.every((other) => {
      if (other.group === group) return true;
      const room = other.group.count === 1 ? distance / 3 : (2 * distance) / 3;
      return markers.every(
        (marker) =>
          apart(marker, other.group, world) >= room &&
          other.markers.every((each) => apart(marker, each, world) >= distance / 3),
      );
    });
    if (markers.length > 0 && fits) result.push(...markers);
    else result.push(group);
  }
  return result;
}
