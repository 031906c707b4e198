import type { Properties } from '../../model/marker.js';
import {
  type Fields,
  OWN_MEMBER,
  type ReadOptions,
  InvalidRow,
  findFields,
  isFields,
  keyText,
  label,
  ownLabel,
  partsOfFeature,
  typeOf,
  without,
} from '../read/row.js';

/** A marker read from a row; the store validates key, position and sizes. */
export interface MarkerRow {
  readonly key: string;
  readonly position: { readonly lng: unknown; readonly lat: unknown };
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  /** Undefined if the row has none. */
  readonly place: readonly string[] | undefined;
}

/** A place in a hierarchy, if the value is a list of strings; other fields called `place` are properties. */
function placeIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string') ? value : undefined;
}

/** The parts of a Feature other than key and position. Throws InvalidRow. */
function contentOfFeature(
  own: unknown,
  properties: Fields,
): Pick<MarkerRow, 'name' | 'category' | 'place' | 'properties'> {
  if (isFields(own)) {
    const { name, category, place = [] } = own;
    const names = placeIn(place);
    if (names === undefined) throw new InvalidRow(`place in the member ${OWN_MEMBER} is not a list of strings`);
    return { name: ownLabel('name', name), category: ownLabel('category', category), place: names, properties };
  }
  const place = placeIn(properties['place']);
  return {
    name: label('name', properties['name']),
    category: label('category', properties['category']),
    place,
    properties: without(properties, ['name', 'category', ...(place === undefined ? [] : ['place'])]),
  };
}

/**
 * A marker from a GeoJSON Feature: `id` is the key, `name` and `category` come from its properties, the rest stay
 * properties. If it has a member `cellport`, as `export` writes it, name, category and place come from there, and all
 * properties stay. Altitude is ignored. Throws InvalidRow.
 */
export function markerOfFeature(feature: unknown, options: ReadOptions): MarkerRow {
  const { geometry, key, properties, own } = partsOfFeature(feature, options);
  if (geometry['type'] !== 'Point') {
    throw new InvalidRow(
      `geometry is ${typeOf(geometry)}, a marker needs a Point; pass --zones to import areas and lines`,
    );
  }
  const { coordinates } = geometry;
  if (!Array.isArray(coordinates) || coordinates.length < 2) throw new InvalidRow('the Point has no coordinates');
  return {
    key: key(),
    position: { lng: coordinates[0] as unknown, lat: coordinates[1] as unknown },
    ...contentOfFeature(own, properties),
  };
}

/** Names of the parts of a marker in a table or a flat object; the first that exists is used. */
export const FIELD_NAMES = {
  key: ['key', 'id'],
  lng: ['lng', 'lon', 'long', 'longitude', 'x'],
  lat: ['lat', 'latitude', 'y'],
  name: ['name'],
  category: ['category'],
  place: ['place'],
} as const;

/** The field that holds each part of a marker. */
export type FieldMap = Readonly<Partial<Record<keyof typeof FIELD_NAMES, string>>>;

/** Finds the parts of a marker among field names. `keyField` has to match exactly. */
export function mapFields(names: readonly string[], { keyField }: ReadOptions): FieldMap {
  const found = findFields(names, FIELD_NAMES);
  if (keyField !== undefined) {
    delete found.key;
    if (names.includes(keyField)) found.key = keyField;
  }
  return found;
}

/** A marker from named fields, e.g. a row of a table; fields outside `map` are properties. Throws InvalidRow. */
export function markerOfFields(fields: Fields, map: FieldMap, { keyField }: ReadOptions): MarkerRow {
  const value = (part: keyof typeof FIELD_NAMES): unknown => (map[part] === undefined ? undefined : fields[map[part]]);
  const place = placeIn(value('place'));
  const { key, place: placeField, ...others } = map;
  // A field named by keyField stays a property, as in GeoJSON; so does a `place` that is not a list of strings.
  const used = [...Object.values(others), keyField === undefined ? key : undefined, place && placeField];
  return {
    key: keyText(keyField ?? key ?? 'key', value('key')),
    position: { lng: value('lng'), lat: value('lat') },
    name: label('name', value('name')),
    category: label('category', value('category')),
    properties: without(fields, used),
    place,
  };
}
