import {
  extendSchema,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

import { markerId } from '../../keys/ids.js';
import type { Connection, Edge } from '../../map/connection.js';
import type { ViewportContent } from '../../map/content.js';
import { markerFeatureText } from '../../map/features.js';
import { markerProperties } from '../../map/markers.js';
import { jsonOf } from '../../model/json.js';
import type { MapMarker, Marker, Properties } from '../../model/marker.js';
import type { MarkerFormat } from '../../read/from-pages/marker-texts.js';
import type { RequestContext } from '../context.js';
import { chargeList, fieldsOf } from '../limits/bounded-lists.js';
import type { Fragments } from '../limits/compared-fields.js';
import { fragmentsOf } from '../limits/document-limits.js';
import { marker as resolvers } from '../resolvers/marker.js';

/** A list of markers in a compiled operation, which is answered as text: copied from pages, without an object a marker. */
export interface MarkerList {
  readonly format: MarkerFormat;
  /** Number of fields of each marker. */
  readonly fields: number;
}

type Markers = readonly MapMarker[];
type Write = (marker: MapMarker, properties: Properties) => string;

const nodesOf = (parent: unknown): Markers => (parent as Connection<Edge<MapMarker>>).edges.map(({ node }) => node);

/** The lists of markers: the field of each type. */
const LISTS: Readonly<Record<string, readonly [field: string, markers: (parent: unknown) => Markers]>> = {
  MarkerConnection: ['nodes', nodesOf],
  NearbyConnection: ['nodes', nodesOf],
  ViewportContent: ['markers', (parent) => (parent as ViewportContent).markers],
};

/** Writes the fields of a marker that take no read but that of its properties. */
const FIELDS: Readonly<Record<string, Write>> = {
  id: ({ collection, key }) => JSON.stringify(markerId(collection, key)),
  key: ({ key }) => JSON.stringify(key),
  geohash: ({ geohash }) => JSON.stringify(geohash),
  name: ({ name }) => JSON.stringify(name),
  category: ({ category }) => JSON.stringify(category),
  properties: (_, properties) => jsonOf(properties),
  geojson: markerFeatureText,
};
const WITH_PROPERTIES = ['properties', 'geojson'];
const COORDINATES: Readonly<Record<string, Write>> = {
  lng: ({ position }) => JSON.stringify(position.lng),
  lat: ({ position }) => JSON.stringify(position.lat),
};

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

/** What writes an object of a type with this selection; undefined if a field is not in `known`, or its resolver not ours. */
function writerOf(
  type: GraphQLNamedType | undefined,
  sets: readonly SelectionSetNode[],
  fragments: Fragments,
  known: Readonly<Record<string, Write>>,
): Writer | undefined {
  const parts: (readonly [before: string, Writer])[] = [];
  for (const [name, nodes] of fieldsByName(sets, fragments)) {
    const field = nodes[0]?.name.value ?? '';
    const own = isObjectType(type) ? type.getFields()[field] : undefined;
    const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const write = field === '__typename' ? () => `"${type?.name}"` : known[field];
    const writer =
      own && inner.length > 0
        ? writerOf(getNamedType(own.type), inner, fragments, COORDINATES)
        : write && { name: field, write };
    // A server that embeds this one may have replaced it.
    const isOurs = own?.resolve === (resolvers as Readonly<Record<string, unknown>>)[field];
    if (!writer || !isOurs) return undefined;
    parts.push([`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, writer]);
  }
  return {
    name: `${parts.map(([before, { name }]) => before + name).join('')}}`,
    write: (marker, properties) =>
      `${parts.map(([before, { write }]) => before + write(marker, properties)).join('')}}`,
  };
}

const lacksProperties = (marker: MapMarker | Marker) => !('properties' in marker) && !marker.complete;
const ownProperties = (marker: MapMarker | Marker) =>
  'properties' in marker ? marker.properties : marker.mapProperties;

function listOf(schema: GraphQLSchema, set: SelectionSetNode, fragments: Fragments): MarkerList | undefined {
  const writer = writerOf(schema.getType('Marker'), [set], fragments, FIELDS);
  if (!writer) return undefined;
  const fields = Array.from(fieldsByName([set], fragments).values(), ([node]) => node?.name.value ?? '');
  return {
    fields: fieldsOf(set, Object.fromEntries(fragments)),
    format: {
      name: writer.name,
      lacks: fields.some((field) => WITH_PROPERTIES.includes(field)) ? lacksProperties : () => false,
      write: (marker, properties = ownProperties(marker)) => writer.write(marker, properties),
    },
  };
}

/** The field that answers such a list in the schema of compiled operations. */
const TEXT = 'cellportText';
const ofSchema = new WeakMap<GraphQLSchema, GraphQLSchema>();

/** The schema with a field for the text of each list of markers; clients do not see it. */
function withTexts(schema: GraphQLSchema): GraphQLSchema {
  const known = ofSchema.get(schema);
  if (known) return known;
  const types = Object.entries(LISTS).filter(([name]) => schema.getType(name) !== undefined);
  const extensions = types.map(([name]) => `extend type ${name} { ${TEXT}(list: Int!): JSON }`);
  const extended = extensions.length === 0 ? schema : extendSchema(schema, parse(extensions.join('\n')));
  for (const [name, [, markersOf]] of types) {
    const type = extended.getType(name);
    const field = isObjectType(type) ? type.getFields()[TEXT] : undefined;
    if (field) field.resolve = (parent, { list }, context) => textOf(context, markersOf(parent), list);
  }
  ofSchema.set(schema, extended);
  return extended;
}

async function textOf({ services, work, map, compiled }: RequestContext, markers: Markers, list: number) {
  const { format, fields } = compiled?.lists[list] ?? {};
  if (!format || fields === undefined) throw new Error(`a compiled operation has no list ${list}`);
  chargeList(work, markers.length, fields);
  await work.turn();
  const read = (marker: MapMarker) => markerProperties(map, marker);
  const pieces = await map.loaders.markerTexts.join(markers, format, work.turn, read);
  return services.answerWriter.text(Buffer.from('['), ...pieces, Buffer.from(']'));
}

/** An operation in which lists of markers are texts, and these lists. */
export interface WithTexts {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly lists: readonly MarkerList[];
}

/** Replaces the lists of markers of a valid document that need no resolver for a marker. */
export function withMarkerTexts(schema: GraphQLSchema, document: DocumentNode): WithTexts {
  const fragments = fragmentsOf(document);
  const found: { readonly node: FieldNode; readonly path: string; readonly isInFragment: boolean }[] = [];
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field(node, _key, _parent, _path, ancestors) {
        const [field] = LISTS[types.getParentType()?.name ?? ''] ?? [];
        const own = types.getFieldDef();
        if (node.name.value !== field || own === undefined) return;
        const around = ancestors.flatMap((one) => ('kind' in one ? one : []));
        const names = around.map((one) => (one.kind === Kind.FIELD ? (one.alias ?? one.name).value : ''));
        const isInFragment = around.some(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
        found.push({ node, path: [...names, (node.alias ?? node.name).value].filter(Boolean).join('.'), isInFragment });
      },
    }),
  );
  const lists = new Map<FieldNode, MarkerList>();
  for (const { node, path } of found) {
    // Two selections of one list are merged, and those of fragments are anywhere.
    const isMerged =
      found.length > 1 &&
      (found.some((one) => one.isInFragment) || found.some((one) => one.path === path && one.node !== node));
    const list = isMerged || !node.selectionSet ? undefined : listOf(schema, node.selectionSet, fragments);
    if (list) lists.set(node, list);
  }
  if (lists.size === 0) return { schema, document, lists: [] };
  const nodes = [...lists.keys()];
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const replaced = visit(document, {
    Field(node): FieldNode | undefined {
      const at = nodes.indexOf(node);
      if (at < 0) return undefined;
      const value = { kind: Kind.INT, value: String(at) } as const;
      const given = { kind: Kind.ARGUMENT, name: name('list'), value } as const;
      return { kind: Kind.FIELD, alias: node.alias ?? node.name, name: name(TEXT), arguments: [given] };
    },
  });
  return { schema: withTexts(schema), document: replaced, lists: [...lists.values()] };
}
