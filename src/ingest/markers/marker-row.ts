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
  without,
} from '../read/row.js';

/** What a row of a file says of a marker, not yet validated: the store's own rules decide on keys, positions and sizes. */
export interface MarkerRow {
  readonly key: string;
  readonly position: { readonly lng: unknown; readonly lat: unknown };
  readonly name: string | null;
  readonly category: string | null;
  readonly properties: Properties;
  /** Undefined where the row says nothing of it. */
  readonly place: readonly string[] | undefined;
}

/**
 * A place in a hierarchy, where a value is one: a list of texts. Files have fields called `place` that hold all sorts of
 * other things, and those are properties.
 */
function placeIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string') ? value : undefined;
}

/** What a Feature says of its marker beside key and position. Throws InvalidRow. */
function contentOfFeature(
  own: unknown,
  properties: Fields,
): Pick<MarkerRow, 'name' | 'category' | 'place' | 'properties'> {
  if (isFields(own)) {
    const { name, category, place = [] } = own;
    const names = placeIn(place);
    if (names === undefined) throw new InvalidRow(`the place in its member ${OWN_MEMBER} is no list of texts`);
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
 * A marker from a GeoJSON Feature: its `id` is the key, `name` and `category` come from its properties, the rest are
 * properties. Where it has a member `cellport`, as `export` writes it, that tells name, category and place, and all
 * properties are properties. An altitude is left out. Throws InvalidRow.
 */
export function markerOfFeature(feature: unknown, options: ReadOptions): MarkerRow {
  const { geometry, key, properties, own } = partsOfFeature(feature, options);
  if (geometry['type'] !== 'Point') {
    throw new InvalidRow(
      `its geometry is a ${String(geometry['type'])}; a marker is a Point (--zones imports areas and lines)`,
    );
  }
  const { coordinates } = geometry;
  if (!Array.isArray(coordinates) || coordinates.length < 2) throw new InvalidRow('its Point has no coordinates');
  return {
    key: key(),
    position: { lng: coordinates[0] as unknown, lat: coordinates[1] as unknown },
    ...contentOfFeature(own, properties),
  };
}

/** Under which names the parts of a marker stand in a table or a flat object, the first that is there wins. */
export const FIELD_NAMES = {
  key: ['key', 'id'],
  lng: ['lng', 'lon', 'long', 'longitude', 'x'],
  lat: ['lat', 'latitude', 'y'],
  name: ['name'],
  category: ['category'],
  place: ['place'],
} as const;

/** Which field of a file holds which part of a marker. */
export type FieldMap = Readonly<Partial<Record<keyof typeof FIELD_NAMES, string>>>;

/** Finds the parts of a marker among the names of fields. `keyField`, where given, must be among them as it is written. */
export function mapFields(names: readonly string[], { keyField }: ReadOptions): FieldMap {
  const found = findFields(names, FIELD_NAMES);
  if (keyField !== undefined) {
    delete found.key;
    if (names.includes(keyField)) found.key = keyField;
  }
  return found;
}

/** A marker from named fields, e.g. a row of a table; what `map` does not name is a property. Throws InvalidRow. */
export function markerOfFields(fields: Fields, map: FieldMap, { keyField }: ReadOptions): MarkerRow {
  const value = (part: keyof typeof FIELD_NAMES): unknown => (map[part] === undefined ? undefined : fields[map[part]]);
  const place = placeIn(value('place'));
  const { key, place: placeField, ...others } = map;
  // A field that was named as the key stays a property, as it does in GeoJSON; so does a `place` that is none.
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
