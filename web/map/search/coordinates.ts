/** A position in degrees. */
export interface Position {
  readonly lng: number;
  readonly lat: number;
}

/** One interpretation of a pair of numbers. */
export interface Reading {
  readonly position: Position;
  /** Which of the two numbers is taken as the latitude; undefined if the text is unambiguous. */
  readonly latitude: 'first' | 'second' | undefined;
}

/** Degrees, minutes and seconds with a sign, or with a hemisphere before or after. */
const ANGLE =
  /^([NSEW])?\s*([+-])?(\d+(?:\.\d+)?)(?:(?:\s*°\s*|\s+|:)(\d+(?:\.\d+)?)(?:(?:\s*'\s*|\s+|:)(\d+(?:\.\d+)?)\s*(?:"|'')?)?\s*'?)?\s*°?\s*([NSEW])?$/;

interface Angle {
  readonly degrees: number;
  readonly axis: 'lat' | 'lng' | undefined;
}

function readAngle(text: string): Angle | undefined {
  const [whole, before, sign, degrees = '', minutes = '', seconds = '', after] = ANGLE.exec(text) ?? [];
  const hemisphere = before ?? after;
  if (whole === undefined || (before && after) || (hemisphere && sign)) return undefined;
  // Only the last of the three may have decimals.
  if ((minutes !== '' && degrees.includes('.')) || (seconds !== '' && minutes.includes('.'))) return undefined;
  if (Number(minutes) >= 60 || Number(seconds) >= 60) return undefined;
  const size = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3_600;
  const isNegative = sign === '-' || hemisphere === 'S' || hemisphere === 'W';
  const axis = hemisphere === undefined ? undefined : 'NS'.includes(hemisphere) ? 'lat' : 'lng';
  return { degrees: isNegative && size > 0 ? -size : size, axis };
}

/** The ways to split a text in two, likeliest first. */
function* halves(text: string): Generator<readonly [string, string]> {
  for (const separator of [
    // Two words: a comma within one of them is a decimal comma, as in `48 16,5`.
    /(?<=^[^\s,]+(?:,[^\s,]+)?)\s+(?=[^\s,]+(?:,[^\s,]+)?$)/,
    /\s*[;/]\s*/,
    /\s*,\s+/,
    /\s*,\s*/,
    /(?<=[NSEW])\s*(?=[-+\d])|(?<=[\d°'"])\s*(?=[NSEW]\s*\d)/,
  ]) {
    const [first, second, ...more] = text.split(separator);
    if (first !== undefined && second !== undefined && more.length === 0) yield [first, second];
  }
  const words = text.split(/\s+/);
  const middle = words.length / 2;
  if (Number.isInteger(middle)) yield [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}

/** Replaces decimal commas by points, where commas do not separate the numbers. */
const withPoint = (text: string) => text.replaceAll(/(\d),(?=\d)/g, '$1.');

function readPair(text: string): readonly [Angle, Angle] | undefined {
  for (const [one, other] of halves(text)) {
    const [first, second] = [readAngle(withPoint(one)), readAngle(withPoint(other))];
    if (first && second) return [first, second];
  }
  return undefined;
}

/** Replaces alternative signs by the standard ones. */
const plain = (text: string) =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/[\u2212\u2013]/g, '-')
    .replaceAll('º', '°')
    .replaceAll(/[\u2032\u2019]/g, "'")
    .replaceAll(/[\u2033\u201d]/g, '"');

/** Which of the two numbers may be the latitude, likeliest first, by the prefix of the text. */
const LATITUDES: Readonly<Record<string, readonly ('first' | 'second')[]>> = {
  'GEO:': ['first'],
  'POINT(': ['second'],
  // As in GeoJSON.
  '[': ['second', 'first'],
};

const LONGEST = 100;

/** Whether two angles are a valid latitude and longitude. */
function isPosition(lat: Angle, lng: Angle): boolean {
  const areNamed = lat.axis === 'lat' && lng.axis === 'lng';
  const areUnnamed = lat.axis === undefined && lng.axis === undefined;
  return (areNamed || areUnnamed) && Math.abs(lat.degrees) <= 90 && Math.abs(lng.degrees) <= 180;
}

/**
 * The positions that a text may mean: none, one, or two if either number may be the latitude, likeliest first. Reads
 * decimal degrees, degrees with minutes and seconds, signs or hemispheres, `geo:` URIs, GeoJSON and WKT.
 */
export function readCoordinates(text: string): readonly Reading[] {
  const [, prefix = '', inner = ''] = /^(GEO:|POINT\s*\(|\[|\()?\s*(.*?)\s*[\])]?$/.exec(plain(text)) ?? [];
  const pair = text.length > LONGEST ? undefined : readPair(prefix === 'GEO:' ? inner.replace(/;.*/, '') : inner);
  if (pair === undefined) return [];
  const latitudes = LATITUDES[prefix.replace(/\s/g, '')] ?? ['first', 'second'];
  return latitudes.flatMap((latitude) => {
    const [lat, lng] = latitude === 'first' ? pair : [pair[1], pair[0]];
    if (!isPosition(lat, lng)) return [];
    const isCertain = lat.axis !== undefined || latitudes.length === 1;
    const position = { lng: lng.degrees, lat: lat.degrees };
    return [{ position, latitude: isCertain ? undefined : latitude }];
  });
}
