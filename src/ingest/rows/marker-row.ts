import type { Properties } from '../../model/marker.js';
import { withKey, type Keyed } from './content-key.js';
import { checkCrs } from './crs.js';
import { itemIn } from './dynamodb-json.js';
import {
  findFields,
  findParts,
  givenKey,
  InvalidRow,
  isFields,
  isGiven,
  KEY_NAMES,
  keyOfFeature,
  keyText,
  label,
  LABEL_NAMES,
  OWN_MEMBER,
  ownLabel,
  propertiesOfFeature,
  without,
  type ReadOptions,
  type RowFields,
} from './fields.js';
import {
  findPosition,
  isPoint,
  pointAmong,
  positionIn,
  positionOfGeometry,
  type FoundPosition,
  type RowPosition,
} from './position.js';

interface Content {
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  /** Undefined if the row has none. */
  readonly place: readonly string[] | undefined;
}

/** A marker parsed from a row; the store validates key, position and sizes. */
export interface MarkerRow extends Keyed, Content {
  readonly position: RowPosition;
  /** Present if its position has an elevation, which is not kept. */
  readonly hasElevation?: true;
}

/** Field names for the parts of a marker, besides its position; the first that exists is used. */
const FIELD_NAMES = { key: KEY_NAMES, ...LABEL_NAMES } as const;

type Part = keyof typeof FIELD_NAMES;

/** Parts for which an option can name another field. */
export const CHOSEN_PARTS = ['key', 'name', 'category'] as const satisfies readonly Part[];

/** The field for each part of a marker. */
export type FieldMap = Readonly<Partial<Record<Part, string>>>;

/** Maps the parts of a marker to the field names that were chosen, or else `found`. */
export function mapFields(
  names: readonly string[],
  options: ReadOptions,
  found = findFields(names, FIELD_NAMES),
): FieldMap {
  for (const part of CHOSEN_PARTS) {
    const field = options[`${part}Column`];
    if (field === undefined) continue;
    delete found[part];
    if (field !== null && names.includes(field)) found[part] = field;
  }
  return found;
}

/** A path in the place hierarchy if the value is a list of strings; otherwise `place` is an ordinary property. */
function placeIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string') ? value : undefined;
}

/** The parts of a Feature other than key and position. Throws InvalidRow. */
function contentOfFeature(own: unknown, properties: RowFields, { nameColumn, categoryColumn }: ReadOptions): Content {
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
  const found = findParts(properties, FIELD_NAMES);
  const nameField = nameColumn === undefined ? (found.name ?? null) : nameColumn;
  const categoryField = categoryColumn === undefined ? (found.category ?? null) : categoryColumn;
  const place = found.place === undefined ? undefined : placeIn(properties[found.place]);
  return {
    name: labelIn(nameField),
    category: labelIn(categoryField),
    place,
    properties: without(properties, [nameField, categoryField, place && found.place]),
  };
}

const markerOf = (key: string | undefined, { position, hasElevation }: FoundPosition, content: Content): MarkerRow =>
  withKey(key, { position, ...content, ...(hasElevation === true && { hasElevation }) });

/** The position of a row with these fields, wherever it is. Throws InvalidRow, with `reason` if there is none. */
function positionAmong(fields: RowFields, options: ReadOptions, reason?: string): FoundPosition {
  const all = Object.keys(fields);
  const isChosen = options.latColumn !== undefined || options.lngColumn !== undefined;
  const names = isChosen ? all : all.filter((name) => isGiven(fields[name]));
  // In the form of the API, where properties are beside it.
  const own = isFields(fields['position']) && options.latColumn === undefined ? { point: 'position' } : undefined;
  const point = () => pointAmong(names, (name) => isPoint(name, fields[name]));
  const at = own ?? findPosition(names, options) ?? point() ?? findPosition(all, options);
  if (at === undefined && reason !== undefined) throw new InvalidRow(reason);
  return positionIn(fields, at);
}

/**
 * Parses a marker from a GeoJSON Feature: `id`, or a property of such a name, is the key; name and category come from its
 * properties, the rest stay properties. If it has a member `cellport`, as `export` writes it, name, category and place
 * come from there, and all properties stay. Without a geometry, properties may have the position. Throws InvalidRow.
 */
function markerOfFeature(feature: RowFields, options: ReadOptions): MarkerRow {
  checkCrs(feature);
  const { geometry } = feature;
  const all = propertiesOfFeature(feature);
  const position = isFields(geometry)
    ? positionOfGeometry(geometry)
    : positionAmong(all, options, 'the feature has no geometry');
  const { key, properties } = keyOfFeature(feature, position.rest ?? all, options);
  return markerOf(key, position, contentOfFeature(feature[OWN_MEMBER], properties, options));
}

/**
 * Parses a marker from named fields, such as the row of a table; fields outside `map` and the position are properties.
 * Throws InvalidRow.
 */
export function markerOfFields(
  fields: RowFields,
  map: FieldMap,
  position: FoundPosition,
  { keyColumn }: ReadOptions,
): MarkerRow {
  const value = (part: Part): unknown => (map[part] === undefined ? undefined : fields[map[part]]);
  const place = placeIn(value('place'));
  const { key, name, category } = map;
  // A field named by keyColumn stays a property, as in GeoJSON; so does a `place` that is not a list of strings.
  const used = [name, category, keyColumn === undefined ? key : undefined, place && map.place];
  return markerOf(
    keyColumn === undefined ? givenKey(key ?? 'key', value('key')) : keyText(keyColumn, value('key')),
    position,
    {
      name: label(name ?? 'name', value('name')),
      category: label(category ?? 'category', value('category')),
      properties: without(position.rest ?? fields, used),
      place,
    },
  );
}

/** Moves the fields of the object `properties`, as in the API, to the top level. Throws InvalidRow. */
export function flatten(fields: RowFields): RowFields {
  const { properties, ...rest } = fields;
  if (properties === undefined || properties === null) return rest;
  if (!isFields(properties)) throw new InvalidRow('properties is not an object');
  const twice = Object.keys(properties).find((name) => Object.hasOwn(rest, name));
  if (twice !== undefined) throw new InvalidRow(`duplicate field ${twice}, also in properties`);
  return Object.fromEntries([...Object.entries(rest), ...Object.entries(properties)]);
}

/**
 * Parses a marker from a JSON value: a GeoJSON Feature, or an object with a position and other fields, which may be in
 * DynamoDB's JSON. Throws InvalidRow.
 */
export function markerOfValue(value: unknown, options: ReadOptions): MarkerRow {
  if (!isFields(value)) throw new InvalidRow('not a GeoJSON Feature or another JSON object');
  if (value['type'] === 'Feature') return markerOfFeature(value, options);
  if (value['type'] === 'FeatureCollection')
    throw new InvalidRow('a FeatureCollection in place of a Feature; `jq -c .features[]` makes lines of its features');
  const fields = flatten(itemIn(value) ?? value);
  const map = mapFields(Object.keys(fields), options, findParts(fields, FIELD_NAMES));
  return markerOfFields(fields, map, positionAmong(fields, options), options);
}
