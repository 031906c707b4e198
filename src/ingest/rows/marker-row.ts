import type { Properties } from '../../model/marker.js';
import { type Keyed, withKey } from './content-key.js';
import {
  type RowFields,
  OWN_MEMBER,
  type ReadOptions,
  InvalidRow,
  findFields,
  givenKey,
  isFields,
  keyText,
  label,
  ownLabel,
  partsOfFeature,
  typeOf,
  without,
} from './fields.js';
import { type PositionFields, type RowPosition, findPosition, positionIn } from './position.js';

/** A marker parsed from a row; the store validates key, position and sizes. */
export interface MarkerRow extends Keyed {
  readonly position: RowPosition;
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  /** Undefined if the row has none. */
  readonly place: readonly string[] | undefined;
}

/** A path in the place hierarchy if the value is a list of strings; otherwise `place` is an ordinary property. */
function placeIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string') ? value : undefined;
}

/** The parts of a Feature other than key and position. Throws InvalidRow. */
function contentOfFeature(
  own: unknown,
  properties: RowFields,
  { nameColumn, categoryColumn }: ReadOptions,
): Pick<MarkerRow, 'name' | 'category' | 'place' | 'properties'> {
  const labelIn = (field: string | null) => (field === null ? null : label(field, properties[field]));
  if (isFields(own)) {
    const { name, category, place = [] } = own;
    const names = placeIn(place);
    if (names === undefined) throw new InvalidRow(`place in the member ${OWN_MEMBER} is not a list of strings`);
    return {
      name: nameColumn === undefined ? ownLabel('name', name) : labelIn(nameColumn),
      category: categoryColumn === undefined ? ownLabel('category', category) : labelIn(categoryColumn),
      place: names,
      properties,
    };
  }
  const nameField = nameColumn === undefined ? 'name' : nameColumn;
  const categoryField = categoryColumn === undefined ? 'category' : categoryColumn;
  const place = placeIn(properties['place']);
  return {
    name: labelIn(nameField),
    category: labelIn(categoryField),
    place,
    properties: without(properties, [nameField, categoryField, place && 'place']),
  };
}

/** The position of a Point, or of a MultiPoint with one point, as QGIS writes it. Throws InvalidRow. */
function positionOfGeometry(geometry: RowFields): RowPosition {
  const { type, coordinates } = geometry;
  const single: unknown =
    type === 'MultiPoint' && Array.isArray(coordinates) && coordinates.length === 1 ? coordinates[0] : undefined;
  if (type !== 'Point' && single === undefined) {
    throw new InvalidRow(
      `geometry is ${typeOf(geometry)}, but a marker needs a Point; pass --zones to import areas and lines`,
    );
  }
  const position: unknown = single ?? coordinates;
  if (!Array.isArray(position) || position.length < 2) throw new InvalidRow('the Point has no coordinates');
  return { lng: position[0] as unknown, lat: position[1] as unknown };
}

/**
 * Parses a marker from a GeoJSON Feature: `id` is the key, `name` and `category` come from its properties, the rest
 * stay properties. If it has a member `cellport`, as `export` writes it, name, category and place come from there, and
 * all properties stay. Altitude is ignored. Throws InvalidRow.
 */
export function markerOfFeature(feature: unknown, options: ReadOptions): MarkerRow {
  const { geometry, key, properties, own } = partsOfFeature(feature, options);
  const position = positionOfGeometry(geometry);
  return withKey(key(), { position, ...contentOfFeature(own, properties, options) });
}

/** Field names for the parts of a marker, besides its position; the first that exists is used. */
const FIELD_NAMES = { key: ['key', 'id'], name: ['name'], category: ['category'], place: ['place'] } as const;

type Part = keyof typeof FIELD_NAMES;

/** Parts for which an option can name another field. */
export const CHOSEN_PARTS = ['key', 'name', 'category'] as const satisfies readonly Part[];

/** The field for each part of a marker. */
export type FieldMap = Readonly<Partial<Record<Part, string>>> & { readonly position: PositionFields | undefined };

/**
 * Maps the parts of a marker to field names, its position to one of `positionNames`. Throws InvalidRow if several
 * fields may hold the position.
 */
export function mapFields(names: readonly string[], options: ReadOptions, positionNames = names): FieldMap {
  const found = findFields(names, FIELD_NAMES);
  for (const part of CHOSEN_PARTS) {
    const field = options[`${part}Column`];
    if (field === undefined) continue;
    delete found[part];
    if (field !== null && names.includes(field)) found[part] = field;
  }
  return { ...found, position: findPosition(positionNames, options) };
}

/**
 * Parses a marker from named fields, such as the row of a table; fields outside `map` are properties. Throws
 * InvalidRow.
 */
export function markerOfFields(fields: RowFields, map: FieldMap, { keyColumn }: ReadOptions): MarkerRow {
  const value = (part: Part): unknown => (map[part] === undefined ? undefined : fields[map[part]]);
  const place = placeIn(value('place'));
  const { key, position, name, category } = map;
  const used = [
    ...(position === undefined ? [] : Object.values(position)),
    name,
    category,
    // A field named by keyColumn stays a property, as in GeoJSON; so does a `place` that is not a list of strings.
    keyColumn === undefined ? key : undefined,
    place && map.place,
  ];
  return withKey(keyColumn === undefined ? givenKey(key ?? 'key', value('key')) : keyText(keyColumn, value('key')), {
    position: positionIn(fields, position),
    name: label(name ?? 'name', value('name')),
    category: label(category ?? 'category', value('category')),
    properties: without(fields, used),
    place,
  });
}

/** Moves the fields of the objects `position` and `properties`, as in the API, to the top level. Throws InvalidRow. */
function flatten(fields: RowFields): RowFields {
  const { position, properties, ...rest } = fields;
  const flat = new Map(Object.entries(rest));
  const parts = [
    ['position', position],
    ['properties', properties],
  ] as const;
  for (const [name, part] of parts) {
    if (part === undefined || part === null) continue;
    if (!isFields(part)) throw new InvalidRow(`${name} is not an object`);
    for (const [field, value] of Object.entries(part)) {
      if (flat.has(field)) throw new InvalidRow(`duplicate field ${field}, also in ${name}`);
      flat.set(field, value);
    }
  }
  return Object.fromEntries(flat);
}

/**
 * Parses a marker from a JSON value: a GeoJSON Feature, or an object with lng, lat and other fields. Throws InvalidRow.
 */
export function markerOfValue(value: unknown, options: ReadOptions): MarkerRow {
  if (!isFields(value)) throw new InvalidRow('not a JSON object');
  if (value['type'] === 'Feature') return markerOfFeature(value, options);
  const fields = flatten(value);
  const names = Object.keys(fields);
  const { position } = value;
  return markerOfFields(fields, mapFields(names, options, isFields(position) ? Object.keys(position) : names), options);
}
