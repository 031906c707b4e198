type Geometry = Readonly<Record<string, unknown>>;

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
const DECIMAL = new RegExp(`^${NUMBER}$`);

/** The number that a text is wholly, as programs write it: `5`, `-.5`, `1e2`; undefined for any other text. */
export function decimalIn(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

const WKT_POINT = new RegExp(
  String.raw`^(?:SRID=4326;\s*)?(?:MULTI)?POINT\s*(?:(?:ZM?|M)\s*)?\(\s*(?:\(\s*)?(${NUMBER})\s+(${NUMBER})(?:\s+(${NUMBER})){0,2}\s*(?:\)\s*)?\)$`,
  'i',
);

/** The coordinates of a WKT point, longitude first, as they are written; undefined for any other text. */
export function wktPoint(text: string): readonly (string | undefined)[] | undefined {
  return WKT_POINT.exec(text)?.slice(1);
}

/** A GeoJSON geometry, or the one inside if it is a collection of one, as QGIS writes it. */
export function singleGeometry(geometry: Geometry): Geometry {
  const { type, geometries } = geometry;
  const [inside, ...more] = Array.isArray(geometries) ? (geometries as readonly Geometry[]) : [];
  const isSingle = isType(type, 'geometrycollection') && more.length === 0 && typeof inside === 'object';
  return isSingle && inside !== null && !isType(inside['type'], 'geometrycollection') ? inside : geometry;
}

/** The coordinates of a GeoJSON Point, or of a MultiPoint of one, unchecked; undefined if it is neither. */
export function pointCoordinates({ type, coordinates }: Geometry): { readonly coordinates: unknown } | undefined {
  if (isType(type, 'point')) return { coordinates };
  const isOne = isType(type, 'multipoint') && Array.isArray(coordinates) && coordinates.length === 1;
  return isOne ? { coordinates: coordinates[0] as unknown } : undefined;
}

/** Libraries that keep points in DynamoDB write POINT, or point. */
const isType = (type: unknown, name: string) => typeof type === 'string' && type.toLowerCase() === name;
