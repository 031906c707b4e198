import type { Point } from '../../geo/bounds.js';
import { COORDINATE_WORDS, plainName } from '../../geo/coordinate-names.js';
import { distance } from '../../geo/distance.js';
import { center, isGeohash } from '../../geo/geohash.js';
import { leafCellCenter } from '../../geo/s2-cell.js';
import { isMap, pathText, valueAt, writePath, type Item, type MappingJson, type Path } from '../mapping.js';
import { readPosition, type Format, type Place } from '../position.js';

/** Where items have their positions, as a mapping says it, and what is not sure of it. */
export interface ProposedPosition {
  readonly position: MappingJson['position'];
  readonly notes: readonly string[];
}

const DEEPEST = 4;
const MOST_PLACES = 200;
const { lat: LAT, lng: LNG, behind: BEHIND } = COORDINATE_WORDS;
/** The word in a name and the rest of it, by which two names are a pair, such as `shopLatitude` and `shop_lng`. */
const NAMES = {
  lat: new RegExp(`^(.*?)(?:${LAT})${BEHIND}$|^(?:${LAT})(.*)$|^(y)$`),
  lng: new RegExp(`^(.*?)(?:${LNG})${BEHIND}$|^(?:${LNG})(.*)$|^(x)$`),
};
const X_AND_Y = 'x and y';
const POINT = /coord|loc|pos|latl|lngl|longl|point|geo|gps|cent(?:er|re)/;
/** The other end of a ride. */
const SECOND = /^(?:end|to|dest|drop|finish)/;
const CELL = /hash|geocell/;
/** Beyond, there is hardly anything but ice: coordinates there are more likely exchanged. */
const PLAUSIBLE = { south: -60, north: 78 };
/** Maximum distance in meters of a position from the center of a cell that contains it, of a geohash of 5 characters. */
const CELL_METERS = 5_000;
/** From this weight on, a second position is worth a word. */
const FULL = 0.5;
/** A second position must be that of so many items, or of a tenth of all, or the first one is enough. */
const FEWEST_FALLBACKS = 2;

function restOf(axis: 'lat' | 'lng', name: string): string | undefined {
  const [, before, behind, letter] = NAMES[axis].exec(plainName(name)) ?? [];
  return before ?? behind ?? (letter && X_AND_Y);
}

/** How a value may hold a position by itself. */
function formatsOf(name: string, value: unknown): readonly Format[] {
  const text = typeof value === 'string' ? value.trim() : undefined;
  if (isMap(value) || text?.startsWith('{') === true) return ['geojson', 'lat,lng'];
  if (text !== undefined && /^(?:SRID|(?:MULTI)?POINT)/i.test(text)) return ['wkt'];
  if (text !== undefined && CELL.test(plainName(name))) return ['geohash'];
  return (text !== undefined || Array.isArray(value)) && POINT.test(plainName(name)) ? ['lng,lat', 'lat,lng'] : [];
}

/** Every place in a map that may hold a position. */
function placesIn(map: Item, base: Path = []): Place[] {
  const names = Object.keys(map);
  return names.flatMap((name): Place[] => {
    const [path, value, rest] = [[...base, name], map[name], restOf('lat', name)];
    const partners = rest === undefined ? [] : names.filter((other) => restOf('lng', other) === rest);
    const inside = isMap(value) && path.length < DEEPEST ? placesIn(value, path) : [];
    const pairs = partners.map((other) => ({ lng: [...base, other], lat: path }));
    return [...pairs, ...formatsOf(name, value).map((as) => ({ path, as })), ...inside];
  });
}

/** How far people would name this place first. */
function weightOf(place: Place): number {
  if ('as' in place) return { geojson: 0.95, wkt: 0.95, 'lat,lng': 0.9, 'lng,lat': 0.9, geohash: 0.4 }[place.as];
  const rest = restOf('lat', String(place.lat.at(-1)));
  return rest === '' ? 1 : rest === X_AND_Y ? 0.3 : SECOND.test(rest ?? '') ? 0.5 : 0.6;
}

/** The centers of cells in other attributes: geohashes, and S2 cells as the Geo Library stores them. */
function cellsIn(item: Item): readonly Point[] {
  return Object.entries(item).flatMap(([name, value]) => {
    if (typeof value === 'bigint') return leafCellCenter(value) ?? [];
    const isCell = typeof value === 'string' && CELL.test(plainName(name)) && value.length > 4 && isGeohash(value);
    return isCell ? center(value.toLowerCase()) : [];
  });
}

/** A place, and what the items have there. */
interface Candidate {
  readonly place: Place;
  readonly points: readonly (Point | undefined)[];
  readonly zeros: number;
  readonly plausible: number;
  readonly inCells: number;
}

function judge(place: Place, items: readonly Item[], cells: readonly (readonly Point[])[]): Candidate {
  const read = items.map((item) => readPosition({ ...place, wrap: false }, item));
  const isZero = (point: Point) => point.lng === 0 && point.lat === 0;
  const points = read.map((point) => ('reason' in point || isZero(point) ? undefined : point));
  const count = (holds: (point: Point, at: number) => boolean) =>
    points.filter((point, at) => point !== undefined && holds(point, at)).length;
  return {
    place,
    points,
    zeros: read.filter((point) => !('reason' in point) && isZero(point)).length,
    plausible: count(({ lat }) => lat > PLAUSIBLE.south && lat < PLAUSIBLE.north) + count(() => true) / 10,
    inCells: count((point, at) => cells[at]?.some((cell) => distance(cell, point) < CELL_METERS) === true),
  };
}

const rank = ({ place, plausible }: Candidate) => plausible * weightOf(place);
const pathOf = (place: Place) => JSON.stringify('as' in place ? place.path : place);
/** Positive if `b` is the better of two orders at one path; 0 if nothing tells. */
const byOrder = (a: Candidate, b: Candidate) => b.inCells - a.inCells || b.plausible - a.plausible;

/**
 * The candidate for a path whose order is right or, if nothing tells, usual: GeoJSON and lists have the longitude first,
 * text the latitude.
 */
function inOrder(candidates: readonly Candidate[], items: readonly Item[]): readonly Candidate[] {
  const [lngFirst, latFirst] = candidates;
  if (latFirst === undefined || lngFirst === undefined || !('as' in lngFirst.place)) return candidates;
  const { as, path } = lngFirst.place;
  const name = plainName(String(path.at(-1)));
  const isList = !name.startsWith('lat') && items.some((item) => Array.isArray(valueAt(item, path)));
  const isUsual = as === 'geojson' || isList || /^lo?ng/.test(name);
  const order = byOrder(lngFirst, latFirst);
  return [order < 0 || (order === 0 && isUsual) ? lngFirst : latFirst];
}

const written = (place: Place) =>
  'as' in place
    ? { path: writePath(place.path), as: place.as }
    : { lng: writePath(place.lng), lat: writePath(place.lat) };
const named = (place: Place) =>
  'as' in place ? pathText(place.path) : `${pathText(place.lng)} and ${pathText(place.lat)}`;

/** A note if nothing tells which of two orders at its path is right. */
function noteOnOrder({ place }: Candidate, [lngFirst, latFirst]: readonly Candidate[]): string[] {
  const isTold = lngFirst === undefined || latFirst === undefined || byOrder(lngFirst, latFirst) !== 0;
  if (isTold || !('as' in place) || place.as === 'geojson') return [];
  const [first, other] = place.as === 'lat,lng' ? ['latitude', 'lng,lat'] : ['longitude', 'lat,lng'];
  const question = `Which coordinate comes first in ${named(place)}? Both are possible for all items.`;
  return [`${question} The ${first} is taken; for the other order, write "as": "${other}".`];
}

/** Where items have their positions; undefined if none has one. */
export function proposePosition(items: readonly Item[]): ProposedPosition | undefined {
  const places = new Map<string, Place>();
  for (const place of items.flatMap((item) => placesIn(item))) {
    if (places.size < MOST_PLACES) places.set(JSON.stringify(place), place);
  }
  const cells = items.map(cellsIn);
  const paths = new Map<string, Candidate[]>();
  for (const place of places.values()) {
    const candidate = judge(place, items, cells);
    if (candidate.plausible > 0) paths.set(pathOf(place), [...(paths.get(pathOf(place)) ?? []), candidate]);
  }
  const ranked = [...paths.values()].flatMap((each) => inOrder(each, items)).toSorted((a, b) => rank(b) - rank(a));
  const [best, ...others] = ranked;
  if (best === undefined) return undefined;
  const { place, zeros, points } = best;
  const of = `of ${items.length} items`;
  const notes = noteOnOrder(best, paths.get(pathOf(place)) ?? []);
  if (zeros > 0) notes.push(`${zeros} ${of} are at 0, 0, which is taken for no position.`);
  const position = { ...written(place), ...(zeros > 0 && { zero: 'missing' as const }) };
  for (const other of others.filter((one) => weightOf(one.place) >= FULL)) {
    const gaps = other.points.filter((point, at) => point && !points[at]).length;
    const differing = other.points.filter((point, at) => point?.lng !== points[at]?.lng).length;
    const which = `${gaps} ${of} have no position in ${named(place)}, but in ${named(other.place)}`;
    if (gaps >= Math.max(FEWEST_FALLBACKS, items.length / 10)) {
      const fallback = written(other.place);
      return { position: { ...position, fallback }, notes: [...notes, `${which}, the fallback.`] };
    }
    if (gaps > 0) notes.push(`${which}; they are not shown.`);
    else if (differing * 2 > items.length) {
      notes.push(`The items have another position in ${named(other.place)}; a second collection can show it.`);
    }
  }
  return { position, notes };
}
