import { wrapLng } from '../../geo/bounds.js';
import { COORDINATE_WORDS, plainName } from '../../geo/coordinate-names.js';
import { decimalIn, pointCoordinates, singleGeometry, wktPoint } from '../../geo/point-formats.js';
import { jsonIn } from '../../model/exact-json.js';
import { checkCrs } from './crs.js';
import { InvalidRow, isFields, typeOf, without, type ReadOptions, type RowFields } from './fields.js';

/** The fields with a position: one per coordinate, or one for both. */
export type PositionFields = { readonly lng: string; readonly lat: string } | { readonly point: string };

/** A position as given in the row, with its longitude wrapped; the store validates it. */
export interface RowPosition {
  readonly lng: unknown;
  readonly lat: unknown;
}

/** A position read from a row. */
export interface FoundPosition {
  readonly position: RowPosition;
  /** Whether it has an elevation, which is not kept. */
  readonly hasElevation?: true;
  /** The fields, or members of an object, besides it. */
  readonly rest?: RowFields;
}

/** Written by QGIS and Google My Maps. Coordinate columns next to it may be outdated if the point was moved. */
const WKT = /^wkt(?:geom)?$/;
/** Names of both coordinates, from the surest to x and y; all without accents, blanks and punctuation. */
const BEFORE =
  '(?:geo|geogr[a-z]*|gps|dec(?:imal)?|wgs84|loc(?:ation)?|pos(?:ition)?|coord(?:inate)?s?|point|place|address|venue|station|stop|site|city|intpt|cent(?:er|re|roid))?';
const DEGREES = { lat: /^lat(?:itude)?$/, lng: /^(?:lng|lon|long|longitude)$/ };
const PAIRS = [
  DEGREES,
  {
    lat: new RegExp(`^${BEFORE}(?:${COORDINATE_WORDS.lat})${COORDINATE_WORDS.behind}$`),
    lng: new RegExp(`^${BEFORE}(?:${COORDINATE_WORDS.lng})${COORDINATE_WORDS.behind}$`),
  },
  {
    lat: /^(?:point|coord(?:enada|onnee|inate)?)?y(?:coord(?:inate)?|wgs84)?$/,
    lng: /^(?:point|coord(?:enada|onnee|inate)?)?x(?:coord(?:inate)?|wgs84)?$/,
  },
] as const;
const LAT_WITHIN = new RegExp(`^(.*?)(?:${COORDINATE_WORDS.lat})(.*)$`);
/**
 * WKT, GeoJSON, or both coordinates. Used only if nothing else is found: such a field may also have the name of a town.
 */
const POINT =
  /^(?:(?:the)?geom(?:etry)?|lat(?:itude)?(?:lng|long?|longitude)|(?:lng|long?|longitude)lat(?:itude)?|(?:gps)?coord(?:inate)?s?|cent(?:er|re|roid)|geo(?:json|point(?:2d)?|location|punkt)?|gps|location|loc|position|pos|point|shape|(?:gps|geo|standort)?koordinaten?|standort|coordenadas?|coordonnees?(?:geographiques?|gps)?|wspo[lł]rzedne)$/;
const LNG_FIRST = /^lo?ng?/;
const LAT_FIRST = /^lat/;

export const NO_POSITION =
  'no position: columns lat and lng (or latitude and longitude, or y and x), WKT or GeoJSON points are required; if they have other names, pass --lat-column and --lng-column';

/** The only field with such a name. Throws InvalidRow if there are several. */
function only(names: readonly string[], spelling: RegExp, option = '--lat-column and --lng-column') {
  const found = names.filter((name) => spelling.test(plainName(name)));
  if (found.length < 2) return found[0];
  throw new InvalidRow(`the position may be in any of ${found.join(', ')}; choose with ${option}`);
}

/** The field that an option names. Throws InvalidRow if it does not exist. */
function chosen(names: readonly string[], name: string, option: string): string {
  if (names.includes(name)) return name;
  throw new InvalidRow(`no column ${name}, given by ${option}`);
}

/**
 * Finds the position among field names by their common spellings, or by the options; undefined if not found. Throws
 * InvalidRow if there are several candidates.
 */
export function findPosition(names: readonly string[], options: ReadOptions): PositionFields | undefined {
  const { latColumn, lngColumn } = options;
  if (latColumn !== undefined && latColumn === lngColumn) return { point: chosen(names, latColumn, '--lat-column') };
  const isChosen = latColumn !== undefined || lngColumn !== undefined;
  const wkt = isChosen ? undefined : only(names, WKT);
  if (wkt !== undefined) return { point: wkt };
  for (const pair of PAIRS) {
    const of = (part: 'lat' | 'lng', given: string | undefined) =>
      given === undefined ? only(names, pair[part], `--${part}-column`) : chosen(names, given, `--${part}-column`);
    const lat = of('lat', latColumn);
    const lng = of('lng', lngColumn);
    if (lat !== undefined && lng !== undefined) return { lng, lat };
  }
  if (isChosen) return undefined;
  // Both with the same words around, as in pickup_latitude and pickup_longitude.
  const twinOf = (name: string) => {
    const [, before, behind] = LAT_WITHIN.exec(plainName(name)) ?? [];
    const twin = before === undefined ? /$^/ : new RegExp(`^${before}(?:${COORDINATE_WORDS.lng})${behind}$`);
    return names.find((other) => twin.test(plainName(other)));
  };
  const lat = only(
    names.filter((name) => twinOf(name) !== undefined),
    /./,
  );
  const lng = lat === undefined ? undefined : twinOf(lat);
  return lat === undefined || lng === undefined ? undefined : { lng, lat };
}

const DECIMAL_COMMA = /^[+-]?\d*,\d+$/;
const PART = String.raw`(\d+(?:[.,]\d+)?)`;
/** Degrees, minutes and seconds, as in 52°24'30.5"N, N 52 24.5 or 52:24:30. */
const SEXAGESIMAL = new RegExp(
  String.raw`^([NSEW])?\s*([+-]?)${PART}(?:\s*(?:[°º˚:]|d(?:eg)?)\s*|\s+|(?=[NSEW]?$))(?:${PART}(?:\s*(?:['′’‘´${'`'}:]|m(?:in)?)\s*|\s+|(?=[NSEW]?$)))?(?:${PART}\s*(?:["″”“]|''|′′|’’|´´|${'``'}|s(?:ec)?(?=\s*[NSEW]$))?\s*)?([NSEW])?$`,
);
const HEMISPHERE_WORDS = 'nor(?:th|d|te)|south|s[uü]d|su[lr]|(?:ea|o)st|l?este?|(?:w|ou|ov)est|oeste';
/** A hemisphere as a word, or as a small letter where it cannot be anything else. */
const HEMISPHERE = new RegExp(
  `^[nsew](?=[\\s\\d])|^(?:${HEMISPHERE_WORDS})|(?:${HEMISPHERE_WORDS})$|(?<=[°º˚'"′″’”´]\\s?)[nsew]$`,
  'i',
);
const letterOf = (word: string) =>
  /^(?:w|o[uve])/i.test(word) ? 'W' : /^[elo]/i.test(word) ? 'E' : word.charAt(0).toUpperCase();

/** East in German, but west in French, Italian, Portuguese and Spanish. */
const LETTER_O = /^O(?=\s?\d)|(?<=[^\p{L}\s]\s?)O$/iu;
const GERMAN = /lae?nge|koordinate|standort/;
const ROMANCE = /longitud(?!e)|coorden|coordonn/;

/** A longitude with E or W in place of O, by the language of its field's name. Throws InvalidRow if that does not tell. */
function withoutO(text: string, field: string): string {
  if (!LETTER_O.test(text)) return text;
  const name = plainName(field);
  if (!GERMAN.test(name) && !ROMANCE.test(name))
    throw new InvalidRow(`O in ${text} may be east (Ost) or west (ouest, oeste, ovest): write E or W`);
  return text.replace(LETTER_O, GERMAN.test(name) ? 'E' : 'W');
}

const number = (text: string) => Number(text.replace(',', '.'));

/** The degrees of a latitude or longitude in such notation; undefined if it is none. */
function sexagesimal(text: string, axis: 'lat' | 'lng'): number | undefined {
  const [, before = '', sign, whole = '', minutes = '0', seconds = '0', behind = ''] = SEXAGESIMAL.exec(text) ?? [];
  const hemisphere = before + behind;
  const [positive, negative] = axis === 'lat' ? ['N', 'S'] : ['E', 'W'];
  const isTooMuch = number(whole) > 360 || number(minutes) >= 60 || number(seconds) >= 60;
  const hasFault = isTooMuch || (sign === '-' && hemisphere === positive);
  if (whole === '' || hasFault || !['', positive, negative].includes(hemisphere)) return undefined;
  const degrees = number(whole) + number(minutes) / 60 + number(seconds) / 3600;
  return sign === '-' || hemisphere === negative ? -degrees : degrees;
}

/**
 * A coordinate as people write it: a number, decimals with a point or a comma, or degrees, minutes and seconds. Anything
 * else stays as it is. Throws InvalidRow if the letter O may be east or west, also by the name of its field.
 */
export function degrees(value: unknown, axis: 'lat' | 'lng', field = ''): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim().replace('−', '-');
  const decimal = decimalIn(text);
  if (decimal !== undefined) return decimal;
  if (DECIMAL_COMMA.test(text)) return number(text);
  const plainer = (axis === 'lng' ? withoutO(text, field) : text).replace(HEMISPHERE, letterOf);
  return sexagesimal(plainer, axis) ?? value;
}

function found(lng: unknown, lat: unknown, elevation?: unknown, field?: string): FoundPosition {
  const east = degrees(lng, 'lng', field);
  const position = {
    lng: typeof east === 'number' && Number.isFinite(east) ? wrapLng(east) : east,
    lat: degrees(lat, 'lat'),
  };
  return Number(elevation ?? 0) === 0 ? { position } : { position, hasElevation: true };
}

const foundIn = (fields: RowFields, { lng, lat }: { readonly lng: string; readonly lat: string }): FoundPosition => ({
  ...found(fields[lng], fields[lat], 0, lng),
  rest: without(fields, [lng, lat]),
});

const isNumeric = ({ position: { lng, lat } }: FoundPosition) => typeof lng === 'number' && typeof lat === 'number';

const OTHER_WKT = /^(?:SRID=\d+;\s*)?([a-z]+)\s*(?:(?:ZM?|M)\s*)?\(/i;
/** In a pair, only a sign tells degrees and minutes from two numbers. */
const MARKED = /[°º˚NSEW]/;
/** Trying each blank of a longer text would take too long. */
const LONGEST_PAIR = 100;

/** A latitude and a longitude in one text, in this order unless their hemispheres or the field's name tell otherwise. */
function pairIn(text: string, field: string): FoundPosition | undefined {
  if (text.length > LONGEST_PAIR) return undefined;
  const bare = text.replace(/^[([]\s*|\s*[)\]]$/g, '').replaceAll('−', '-');
  const isPart = (part: string) => decimalIn(part) !== undefined || DECIMAL_COMMA.test(part) || MARKED.test(part);
  for (const { 0: between, index } of bare.matchAll(/\s*[,;/|]\s*|\s+/g)) {
    const halves = [bare.slice(0, index), bare.slice(index + between.length)] as const;
    if (!halves.every(isPart)) continue;
    // One comma of 1,2,3 separates, but which?
    if (between.includes(',') && DECIMAL_COMMA.test(halves[0]) !== DECIMAL_COMMA.test(halves[1])) continue;
    const [lat, lng] = LNG_FIRST.test(plainName(field)) ? halves.toReversed() : halves;
    const pair = found(lng, lat, 0, field);
    if (isNumeric(pair)) return pair;
    const swapped = found(lat, lng, 0, field);
    if (MARKED.test(bare) && isNumeric(swapped)) return swapped;
  }
  return undefined;
}

/** The position of a Point, or of a collection of one point, as QGIS writes it. Throws InvalidRow. */
export function positionOfGeometry(geometry: RowFields): FoundPosition {
  checkCrs(geometry);
  const single = singleGeometry(geometry);
  const point = pointCoordinates(single);
  if (point === undefined) {
    const name = typeOf(single);
    const skipped = name.endsWith('Polygon') ? 'area' : name.endsWith('LineString') ? 'line' : undefined;
    const advice =
      skipped === undefined ? 'split it into a feature for each point' : 'pass --zones to import areas and lines';
    throw new InvalidRow(`geometry is ${name}, but a marker needs a Point; ${advice}`, skipped);
  }
  const { coordinates } = point;
  if (!Array.isArray(coordinates) || coordinates.length < 2) throw new InvalidRow('the Point has no coordinates');
  return found(coordinates[0], coordinates[1], coordinates[2]);
}

/** How deep in objects a position is looked for, as in Google's `geometry.location.lat`. */
const DEEPEST = 3;

/** The position in a value: WKT, GeoJSON, an object or list of both coordinates, or both in one text. */
function parsePoint(field: string, value: unknown, depth = 1): FoundPosition | undefined {
  if (typeof value === 'string') {
    const text = value.trim();
    const [lng, lat, elevation] = wktPoint(text) ?? [];
    if (lng !== undefined) return found(lng, lat, elevation);
    const json = /^[{[]/.test(text) ? jsonIn(text) : undefined;
    return typeof json === 'object' ? parsePoint(field, json) : pairIn(text, field);
  }
  if (Array.isArray(value)) {
    const [lng, lat, elevation] = LAT_FIRST.test(plainName(field)) ? value.toReversed().slice(-2) : value;
    return value.length < 2 ? undefined : found(lng, lat, elevation);
  }
  if (!isFields(value)) return undefined;
  if (typeof value['type'] === 'string' && ('coordinates' in value || 'geometries' in value)) {
    return positionOfGeometry(value);
  }
  const at = findPosition(Object.keys(value), {});
  if (at !== undefined && !('point' in at)) return foundIn(value, at);
  const name = depth === DEEPEST ? undefined : Object.keys(value).find((each) => POINT.test(plainName(each)));
  // A list may be anything unless both names say what it is.
  if (name === undefined || (Array.isArray(value[name]) && !POINT.test(plainName(field)))) return undefined;
  const point = parsePoint(name, value[name], depth + 1);
  return point && { ...point, rest: besides(value, name, point) };
}

/** The fields besides a position in one of them; an address beside the coordinates is kept under the name of both. */
function besides(fields: RowFields, field: string, { rest = {} }: FoundPosition): RowFields {
  const others = without(fields, [field]);
  return isFields(fields[field]) && Object.keys(rest).length > 0 ? { ...others, [field]: rest } : others;
}

/** Whether a value is a position whatever its field is called. */
export function isPoint(field: string, value: unknown): boolean {
  const own =
    typeof value === 'string' ? /^(?:SRID=4326;\s*)?(?:multi)?point|^\{/i.test(value.trim()) : isFields(value);
  if (!own && !POINT.test(plainName(field))) return false;
  try {
    const point = parsePoint(field, value);
    return point !== undefined && isNumeric(point);
  } catch (error) {
    if (error instanceof InvalidRow) return false;
    throw error;
  }
}

/**
 * The field of both coordinates: one for which `holds`, or else with the name of such a field. Throws InvalidRow if there
 * are several without such a name.
 */
export function pointAmong(names: readonly string[], holds: (name: string) => boolean): PositionFields | undefined {
  const holding = names.filter(holds);
  const named = (some: readonly string[]) => some.find((name) => POINT.test(plainName(name)));
  const point = named(holding) ?? only(holding, /./) ?? named(names);
  return point === undefined ? undefined : { point };
}

/** Text with quotes that mean seconds, as in 52°24'30"N, in place of which CSV would need two of them. */
export const withPrimes = (text: string): string =>
  text.replace(/(\d)"(?=\s*[NSEW](?:[^A-Za-z]|$))|(?<=\d['′’]\s?)(\d+(?:\.\d+)?)"(?!")/g, '$1$2″');

/** Parses the position of a row with these fields. Throws InvalidRow. */
export function positionIn(fields: RowFields, at: PositionFields | undefined): FoundPosition {
  if (at === undefined) throw new InvalidRow(NO_POSITION);
  if (!('point' in at)) return foundIn(fields, at);
  const { point: field } = at;
  const value = fields[field];
  const point = parsePoint(field, value);
  if (point !== undefined) return { ...point, rest: besides(fields, field, point) };
  const [, type] = (typeof value === 'string' && OTHER_WKT.exec(value.trim())) || [];
  if (type?.toUpperCase() === 'POINT')
    throw new InvalidRow(`${field} is no POINT of two decimal numbers in WGS 84 degrees`);
  throw new InvalidRow(
    type === undefined
      ? `${field} is neither WKT like POINT (16.9 52.4), GeoJSON, nor latitude and longitude like 52.4, 16.9`
      : `${field} is ${type.toUpperCase()}, but a marker needs a POINT; ${/point/i.test(type) ? 'split it into rows' : 'import areas and lines from GeoJSON'}`,
  );
}
