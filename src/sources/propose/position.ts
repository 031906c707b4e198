import type { Point } from '../../geo/bounds.js';
import { COORDINATE_WORDS, plainName } from '../../geo/coordinate-names.js';
import { distance } from '../../geo/distance.js';
import { center, isGeohash } from '../../geo/geohash.js';
import { leafCellCenter } from '../../geo/s2-cell.js';
import { jsonOfStored } from '../../model/json.js';
import { isMap, opened, pathText, valueAt, writePath, type Item, type MappingJson, type Path } from '../mapping.js';
import { numberIn, readPosition, type Format, type Place } from '../position.js';
import { pathsIn, SECOND } from './attributes.js';

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
const POINT = /[ck]oord|loc|pos|latl|l(?:o?ng?|ong?itude)lat|p[ou]i?nt|geo|gps|cent(?:er|re)|standort|ubica/;
/** Corners of an area. */
const CORNER = /bound|bbox|viewport|^(?:[ns][ew]|(?:north|south)(?:east|west)|min|max)$/;
const CELL = /hash|geocell|^(?:gh|geo)\d*$/;
const OTHER_ORDER = { 'lat,lng': 'lng,lat', 'lng,lat': 'lat,lng' } as const;
/** The order that a name says. */
const saidBy = (plain: string) =>
  /lat(?:itude)?lo?ng?/.test(plain) ? 'lat,lng' : /lo?ng?(?:itude)?lat/.test(plain) ? 'lng,lat' : undefined;
const WEIGHTS = { geojson: 0.95, wkt: 0.95, 'lat,lng': 0.9, 'lng,lat': 0.9, geohash: 0.4 } as const;
/** Beyond, there is hardly anything but ice: coordinates there are more likely exchanged. */
const PLAUSIBLE = { south: -60, north: 78 };
/** Maximum distance in meters of a position from the center of a cell that contains it, of a geohash of 5 characters. */
const CELL_METERS = 5_000;
/** From this weight on, a second position is worth a word. */
const FULL = 0.45;
/** Another order must be that of so many times as many items as the usual one, or as names tell: a few are always wrong. */
const [USUAL, NAMED] = [1.02, 1.2];
/** Fewer times as many leave a doubt. */
const DOUBTFUL = 1.25;
/** A second position must be that of so many items, or of a tenth of all, or the first one is enough. */
const FEWEST_FALLBACKS = 2;

/** Where items may have positions. */
interface Spot {
  /** The ways to read them there, the most usual first. */
  readonly ways: readonly Place[];
  /** How far people would name it first. */
  readonly weight: number;
}

function restOf(axis: 'lat' | 'lng', name: string): string | undefined {
  const [, before, behind, letter] = NAMES[axis].exec(plainName(name)) ?? [];
  return before ?? behind ?? (letter && X_AND_Y);
}

/** How a value may hold a position by itself. */
function formatsOf(plain: string, value: unknown): readonly Format[] {
  const json = opened(value);
  const text = typeof value === 'string' ? value.trim() : '';
  if (isMap(json)) return ['geojson', 'lat,lng'];
  if (/^(?:SRID|(?:MULTI)?POINT)/i.test(text)) return ['wkt', 'lat,lng'];
  if (CELL.test(plain) && isGeohash(text)) return ['geohash'];
  if (!POINT.test(plain) || (text === '' && !Array.isArray(json))) return [];
  const usual = saidBy(plain) ?? (Array.isArray(json) ? 'lng,lat' : 'lat,lng');
  return [usual, OTHER_ORDER[usual]];
}

/** Two values as the coordinates that their names say, or as others. The names have the same rest; `north` is a latitude. */
function pairOf(lng: Path, lat: Path, north: number, rest: string): Spot {
  const weight = rest === '' ? 1 : rest === X_AND_Y ? 0.3 : SECOND.test(rest) ? 0.5 : 0.6;
  // From a tenth of a degree, in millionths.
  const isCount = rest !== X_AND_Y && Number.isInteger(north) && Math.abs(north) >= 1e5;
  const units = !isCount ? [] : rest.includes('e7') ? [1e7] : [1e6, 1e7];
  const counts = units.map((perDegree) => ({ lng, lat, perDegree }));
  return { ways: [{ lng, lat }, { lng: lat, lat: lng }, ...counts], weight };
}

function spotsIn(map: Item, base: Path = []): Spot[] {
  // Items do not keep the order of their attributes.
  const names = Object.keys(map).toSorted();
  return names.flatMap((name): Spot[] => {
    const [path, value, plain, rest = ''] = [[...base, name], opened(map[name]), plainName(name), restOf('lat', name)];
    const partners = names.filter((other) => restOf('lat', name) !== undefined && restOf('lng', other) === rest);
    // Both may be in maps, as in { latitude: { value: 52.4 } }.
    const ends = isMap(value) ? Object.keys(value).map((end) => [end]) : [[]];
    const pairs = ends.flatMap((end) => {
      const north = numberIn(valueAt(map, [name, ...end]));
      return partners.map((other) => pairOf([...base, other, ...end], [...path, ...end], north, rest));
    });
    const ways = formatsOf(plain, map[name]).map((as) => ({ path, as }));
    const inside = isMap(value) && path.length < DEEPEST ? spotsIn(value, path) : [];
    const factor = SECOND.test(plain) ? 0.5 : CORNER.test(plain) ? 0.2 : POINT.test(plain) ? 1 : 0.97;
    const own = { ways, weight: WEIGHTS[ways[0]?.as ?? 'geohash'] };
    return [...pairs, ...[own, ...inside].map((spot) => ({ ...spot, weight: spot.weight * factor }))];
  });
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
  readonly score: number;
}

function judge(place: Place, items: readonly Item[], cells: readonly (readonly Point[])[]): Candidate {
  const read = items.map((item) => readPosition({ ...place, wrap: false }, item));
  const isZero = (point: Point) => point.lng === 0 && point.lat === 0;
  const points = read.map((point) => ('reason' in point || isZero(point) ? undefined : point));
  const count = (holds: (point: Point, at: number) => boolean) =>
    points.filter((point, at) => point !== undefined && holds(point, at)).length;
  const zeros = read.filter((point) => !('reason' in point) && isZero(point)).length;
  const valid = count(() => true);
  const plausible = count(({ lat }) => lat > PLAUSIBLE.south && lat < PLAUSIBLE.north) + valid / 10;
  const inCells = count((point, at) => cells[at]?.some((cell) => distance(cell, point) < CELL_METERS) === true);
  // Those near their cells count twice. Names tell the order of a pair, wherever it is.
  return { place, points, zeros, plausible, score: inCells + ('as' in place ? plausible : valid) };
}

const written = (place: Place) =>
  'as' in place
    ? { path: writePath(place.path), as: place.as }
    : { ...place, lng: writePath(place.lng), lat: writePath(place.lat) };
const named = (place: Place) =>
  'as' in place ? pathText(place.path) : `${pathText(place.lng)} and ${pathText(place.lat)}`;

/** What is not certain of the best candidate in a spot; `other` is the second best. */
function noteOn({ place, points, score }: Candidate, other: Candidate | undefined, { ways }: Spot): string | undefined {
  const where = named(place);
  if ('lng' in place) {
    if (place.perDegree !== undefined) return `${where} are whole numbers; ${place.perDegree} are taken for a degree.`;
    return place === ways[0] ? undefined : `${where} are exchanged, as their values tell against their names.`;
  }
  if (place.as === 'geohash') return `${where} is taken for a geohash; positions are the centers of its cells.`;
  const isTold = !other || score > DOUBTFUL * other.score || saidBy(plainName(String(place.path.at(-1)))) !== undefined;
  if (isTold || place.as === 'geojson' || place.as === 'wkt') return undefined;
  const both = points.filter((point, at) => point && other.points[at]).length;
  const which = both === points.length ? 'all items' : `${both} of ${points.length} items`;
  const first = place.as === 'lat,lng' ? 'latitude' : 'longitude';
  const question = `Which coordinate comes first in ${where}? Both are possible for ${which}.`;
  return `${question} The ${first} is taken; for the other order, write "as": "${OTHER_ORDER[place.as]}".`;
}

/** Where items have their positions; undefined if none has one. */
export function proposePosition(items: readonly Item[]): ProposedPosition | undefined {
  const spots = new Map<string, Spot>();
  for (const spot of items.flatMap((item) => spotsIn(item))) {
    if (spots.size < MOST_PLACES) spots.set(JSON.stringify(spot.ways), spot);
  }
  const cells = items.map(cellsIn);
  const found = [...spots.values()].flatMap((spot) => {
    const [usual] = spot.ways;
    const marked = ({ place, score }: Candidate) => score * (place !== usual ? 1 : 'as' in place ? USUAL : NAMED);
    const candidates = spot.ways.map((way) => judge(way, items, cells)).filter(({ score }) => score > 0);
    const [best, other] = candidates.toSorted((a, b) => marked(b) - marked(a));
    return best ? [{ ...best, weight: spot.weight, note: noteOn(best, other, spot) }] : [];
  });
  const [best, ...others] = found.toSorted((a, b) => b.plausible * b.weight - a.plausible * a.weight);
  if (best === undefined) return undefined;
  const { place, zeros, points, note } = best;
  const of = `of ${items.length} items`;
  const notes = note === undefined ? [] : [note];
  if (zeros > 0) notes.push(`${zeros} ${of} are at 0, 0, which is taken for no position.`);
  const position = { ...written(place), ...(zeros > 0 && { zero: 'missing' as const }) };
  for (const other of others.filter((one) => one.weight >= FULL)) {
    const gaps = other.points.filter((point, at) => point && !points[at]).length;
    const differing = other.points.filter((one, at) => JSON.stringify(one) !== JSON.stringify(points[at])).length;
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

/** Attributes with names of positions, each with a value: what a person may look at if no position is recognized. */
export function likePositions(items: readonly Item[]): string[] {
  return pathsIn(items).flatMap((path) => {
    const isLike = [...Object.values(NAMES), POINT, CELL].some((names) => names.test(plainName(String(path.at(-1)))));
    const value = items.map((item) => valueAt(item, path)).find((one) => (one ?? '') !== '');
    return isLike ? [`${pathText(path)} (${JSON.stringify(jsonOfStored(value)).slice(0, 80)})`] : [];
  });
}
