import {
  getNamedType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

import { markerId } from '../../keys/ids.js';
import { markerFeatureText } from '../../map/features.js';
import { jsonOf } from '../../model/json.js';
import type { MapMarker, Marker, Properties } from '../../model/marker.js';
import type { MarkerFormat } from '../../read/from-pages/marker-texts.js';
import type { Fragments } from '../limits/compared-fields.js';
import { isResolvedByOthers } from '../resolved-by-others.js';

/** Properties that are not given are those of the copy, which take time to decode. */
type Write = (marker: MapMarker, properties?: Properties) => string;

/** Writes the fields of a marker that take no read but that of its properties. */
const FIELDS: Readonly<Record<string, Write>> = {
  id: ({ collection, key }) => JSON.stringify(markerId(collection, key)),
  key: ({ key }) => JSON.stringify(key),
  geohash: ({ geohash }) => JSON.stringify(geohash),
  name: ({ name }) => JSON.stringify(name),
  category: ({ category }) => JSON.stringify(category),
  properties: (marker, properties = ownProperties(marker)) => jsonOf(properties),
  geojson: (marker, properties = ownProperties(marker)) => markerFeatureText(marker, properties),
};
const WITH_PROPERTIES = ['properties', 'geojson'];
const COORDINATES: Readonly<Record<string, Write>> = {
  lng: ({ position }) => JSON.stringify(position.lng),
  lat: ({ position }) => JSON.stringify(position.lat),
};
/** The fields that are objects, with their own fields. */
const OBJECTS: Readonly<Record<string, Readonly<Record<string, Write>>>> = { position: COORDINATES };

/** The fields of a selection and its fragments by name in the answer, where those of the same name are merged. */
function fieldsByName(
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
  all = new Map<string, FieldNode[]>(),
): ReadonlyMap<string, readonly FieldNode[]> {
  for (const selection of sets.flatMap(({ selections }) => selections)) {
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value;
      all.set(name, [...(all.get(name) ?? []), selection]);
    } else {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const set = isSpread ? fragments.get(selection.name.value)?.selectionSet : selection.selectionSet;
      if (set) fieldsByName([set], fragments, all);
    }
  }
  return all;
}

interface Writer {
  /** Writers of the same name write the same. */
  readonly name: string;
  readonly write: Write;
}

/** What writes an object of a type with this selection; undefined if a field is not in `known`, or others resolve it. */
function writerOf(
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
  known: Readonly<Record<string, Write>>,
): Writer | undefined {
  const parts: (readonly [before: string, Writer])[] = [];
  for (const [name, nodes] of fieldsByName(sets, fragments)) {
    const field = nodes[0]?.name.value ?? '';
    const own = isObjectType(type) ? type.getFields()[field] : undefined;
    const inner = OBJECTS[field];
    const selected = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const write = field === '__typename' ? () => `"${type?.name}"` : known[field];
    const writer =
      own && inner
        ? writerOf(schema, getNamedType(own.type), selected, fragments, inner)
        : write && { name: field, write };
    const isTheirs =
      isResolvedByOthers(schema, `${type?.name}.${field}`) ||
      (own && !inner && isResolvedByOthers(schema, getNamedType(own.type).name));
    if (!writer || isTheirs) return undefined;
    parts.push([`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, writer]);
  }
  return {
    name: `${parts.map(([before, { name }]) => before + name).join('')}}`,
    write(marker, properties) {
      let text = '';
      for (const [before, { write }] of parts) text += before + write(marker, properties);
      return `${text}}`;
    },
  };
}

const lacksProperties = (marker: MapMarker | Marker) => !('properties' in marker) && !marker.complete;
const ownProperties = (marker: MapMarker | Marker) =>
  'properties' in marker ? marker.properties : marker.mapProperties;

/** The format of markers with this selection; undefined if a field needs a resolver. */
export function formatOf(schema: GraphQLSchema, set: SelectionSetNode, fragments: Fragments): MarkerFormat | undefined {
  const writer = writerOf(schema, schema.getType('Marker'), [set], fragments, FIELDS);
  if (!writer) return undefined;
  const fields = Array.from(fieldsByName([set], fragments).values(), ([node]) => node?.name.value ?? '');
  return {
    name: writer.name,
    lacks: fields.some((field) => WITH_PROPERTIES.includes(field)) ? lacksProperties : () => false,
    write: writer.write,
  };
}
