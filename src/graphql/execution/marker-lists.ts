import {
  extendSchema,
  isObjectType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
} from 'graphql';

import type { MarkerConnection } from '../../map/connection.js';
import type { ViewportContent } from '../../map/content.js';
import { markerProperties } from '../../map/markers.js';
import type { NearbyConnection } from '../../map/near/near.js';
import type { MapMarker } from '../../model/marker.js';
import type { MarkerList, RequestContext } from '../context.js';
import { chargeList, fieldsOf } from '../limits/bounded-lists.js';
import { fragmentsOf } from '../limits/document-limits.js';
import { isResolvedByOthers } from '../resolved-by-others.js';
import { formatOf } from './marker-format.js';

type Markers = readonly MapMarker[];

/** The lists of markers: the field of each type. */
const LISTS: Readonly<Record<string, readonly [field: string, markers: (parent: unknown) => Markers]>> = {
  MarkerConnection: ['nodes', (parent) => (parent as MarkerConnection).nodes],
  NearbyConnection: ['nodes', (parent) => (parent as NearbyConnection).edges.map(({ node }) => node)],
  ViewportContent: ['markers', (parent) => (parent as ViewportContent).markers],
};

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
        const type = types.getParentType()?.name ?? '';
        const [field] = LISTS[type] ?? [];
        if (node.name.value !== field || isResolvedByOthers(schema, `${type}.${field}`)) return;
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
    const { selectionSet: set } = node;
    const format = isMerged || !set ? undefined : formatOf(schema, set, fragments);
    if (set && format) lists.set(node, { format, fields: fieldsOf(set, Object.fromEntries(fragments)) });
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
