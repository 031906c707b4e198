import { isEnumType, isInputObjectType, isListType, isNonNullType, type GraphQLInputType } from 'graphql';

/** Pseudo-random choices; all choices of a round follow from its seed. */
export interface Choice {
  readonly below: (limit: number) => number;
  readonly some: <T>(list: readonly T[]) => T;
  /** True once in `times` on average. */
  readonly once: (times: number) => boolean;
  /** Like `once`, for values of the wrong type: only in a third of all rounds. */
  readonly wildly: (times: number) => boolean;
}

export function choosing(random: () => number): Choice {
  const below = (limit: number) => Math.floor(random() * limit);
  const isWild = below(3) === 0;
  return {
    wildly: (times) => isWild && below(times) === 0,
    below,
    some: (list) => list[below(list.length)] as never,
    once: (times) => below(times) === 0,
  };
}

/** IDs, keys, cursors and geohashes of stored objects, so that documents find something. */
export interface Known {
  readonly ids: readonly string[];
  readonly cursors: readonly string[];
}

const LONG = 'x'.repeat(3_000);
const TEXTS = ['parks', 'huts', 'm1', 'm2', 'zone', 'a', '', ' ', '0', '__proto__', 'constructor', 'toString', 'a::b', 'a#b', '\u0000', '\ud800', '\ufffe', 'é', 'e\u0301', '😀', '"', '\\', '\n', '%00', '${a}', '{{a}}', "'; --", LONG]; // prettier-ignore
const NUMBERS = [0, -0, 1, -1, 2, 5, 12, 13, 30, 64, 90, 180, 181, -180, 360, 1e-300, 0.1, 1.5, 5_000, 5_001, 100_000, 2_147_483_647, -2_147_483_648, 2_147_483_648, 2 ** 53, 2 ** 53 + 2, 1e308, -1e308, Infinity, -Infinity, 5e-324]; // prettier-ignore
const FINITE = NUMBERS.filter(Number.isFinite);
const INTEGERS = FINITE.filter((value) => (value | 0) === value);
const TIMES = ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.123456789+14:00', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-02-30T00:00:00Z', '2016-12-31T23:59:60Z', '2026-11-21', '+275760-09-13T00:00:00Z', '1']; // prettier-ignore
const GEOHASHES = ['u', 'u3', 'u33d', 'zzzzz', '000', 'u33dc0u33dc0', 'u33dc0u33dc0u', 'a', '', 'U3'];
const LATITUDES = [52.5, 0, -0, 90, -90, 89.999999999, 90.000001, -91, 1e-320];
const LONGITUDES = [13.4, 0, 180, -180, 179.999999999, 180.000001, -360, 540, 1e300];

/** Any JSON value, sometimes deep, wide or with unusual names. */
export function anyJson(choice: Choice, depth = 3): unknown {
  const { below, some, once } = choice;
  if (depth === 0 || once(2)) return some<unknown>([null, true, false, some(NUMBERS), some(TEXTS)]);
  if (once(30)) return deep(some([30, 33, 63, 64, 65, 200, 3_000]));
  if (once(40)) return Array.from({ length: some([100, 3_000]) }, () => some(NUMBERS));
  const size = below(4);
  if (once(2)) return Array.from({ length: size }, () => anyJson(choice, depth - 1));
  return Object.fromEntries(Array.from({ length: size }, () => [some(TEXTS), anyJson(choice, depth - 1)]));
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function geoJson(choice: Choice): unknown {
  const { below, some, once } = choice;
  const near = () => [13 + below(100) / 100, 52 + below(100) / 100];
  const position = () => (once(12) ? some<unknown>([[], [1], [0, 91], ['1', 2], [Infinity, 0], [13, 52, 7], null]) : once(6) ? [some(LONGITUDES), some(LATITUDES)] : near()); // prettier-ignore
  const line = (length = below(8)) => Array.from({ length }, position);
  const ring = () => {
    const open = line(once(20) ? 500 : below(8));
    return once(5) ? open : [...open, open[0] ?? position()];
  };
  const type = some(['Polygon', 'Polygon', 'MultiPolygon', 'LineString', 'MultiLineString', 'Point', 'MultiPoint', 'GeometryCollection', 'Feature', 'Nothing']); // prettier-ignore
  const coordinates = once(20)
    ? anyJson(choice)
    : ({ Polygon: () => Array.from({ length: 1 + below(2) }, ring), MultiPolygon: () => Array.from({ length: below(3) }, () => [ring()]), LineString: line, MultiLineString: () => [line(), line()], Point: position, MultiPoint: line }[type] ?? line)(); // prettier-ignore
  const geometry = { type, coordinates };
  if (type === 'Feature')
    return { type, geometry: { type: 'Polygon', coordinates: [ring()] }, properties: anyJson(choice) };
  if (type === 'GeometryCollection')
    return { type, geometries: once(4) ? anyJson(choice) : [{ type: 'Polygon', coordinates: [ring()] }] };
  return geometry;
}

const SCALARS: Readonly<Record<string, (choice: Choice, known: Known) => unknown>> = {
  Int: ({ some, below, once, wildly }) => some(wildly(3) ? NUMBERS : once(3) ? INTEGERS : [1 + below(50)]),
  Float: ({ some, below, once, wildly }) => some(wildly(3) ? NUMBERS : once(4) ? FINITE : [below(2_000) / 100]),
  String: ({ some, once }, { cursors }) =>
    some(once(4) ? [...cursors, ...GEOHASHES] : once(3) ? TEXTS : ['parks', 'huts', 'm1']),
  ID: ({ some, once }, { ids, cursors }) => some<unknown>(once(6) ? [...TEXTS, ...cursors, 1] : ids),
  Boolean: ({ once }) => once(2),
  DateTime: ({ some, wildly }) => (wildly(3) ? some(TIMES) : '2026-11-20T10:00:00Z'),
  Geohash: ({ some, wildly }) => some(wildly(2) ? GEOHASHES : ['u', 'u33', 'u33d', 'zzzzz', '000', 'u33dc0u33dc0']),
  Latitude: ({ some, below, once, wildly }) =>
    wildly(3) ? some(LATITUDES) : once(5) ? some([0, -0, 90, -90, 89.999999999]) : 52 + below(100) / 100,
  Longitude: ({ some, below, once, wildly }) =>
    wildly(3) ? some(LONGITUDES) : once(5) ? some([0, 180, -180, 179.999999999]) : 13 + below(100) / 100,
  JSON: (choice) => anyJson(choice),
  JSONObject: (choice) => (choice.wildly(10) ? anyJson(choice) : { size: choice.below(9), more: anyJson(choice) }),
  GeoJSON: geoJson,
};

/** A value for an input: mostly of its type, including the limits of its range; sometimes of any other type. */
export function valueOf(type: GraphQLInputType, choice: Choice, known: Known, nullable = true): unknown {
  const { below, some, once, wildly } = choice;
  if (wildly(30)) return anyJson(choice);
  if (isNonNullType(type)) return wildly(40) ? null : valueOf(type.ofType, choice, known, false);
  if (nullable && once(15)) return null;
  if (isListType(type)) {
    const length = once(30) ? some([100, 501]) : below(4);
    return once(20)
      ? valueOf(type.ofType, choice, known)
      : Array.from({ length }, () => valueOf(type.ofType, choice, known));
  }
  if (isEnumType(type)) return some(type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) =>
      isNonNullType(field.type) ? !wildly(20) : once(3),
    );
    const value: Record<string, unknown> = {};
    for (const field of fields) value[field.name] = valueOf(field.type, choice, known);
    if (wildly(20)) value[some(TEXTS)] = 1;
    return value;
  }
  return (SCALARS[type.name] ?? anyJson)(choice, known as never);
}
