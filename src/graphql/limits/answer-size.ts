import {
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isInterfaceType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import { limitExceeded } from '../../errors.js';
import type { Limits } from '../../model/limits.js';
import { SHORTER } from '../work.js';
import { fragmentsOf } from './document-limits.js';
import { UNIT_BOUNDS } from './unit-bounds.js';

type Arguments = Readonly<Record<string, unknown>>;
type Estimate = (args: Arguments, limits: Limits) => number;

/** The argument's value; 0 if it is invalid, because the field itself rejects it with a better reason. */
const byCount =
  (name: string): Estimate =>
  (args, { maxFirst }) => {
    const count = args[name];
    return typeof count === 'number' && count >= 1 && count <= maxFirst ? count : 0;
  };

const byLength =
  (name: string): Estimate =>
  (args) =>
    Array.isArray(args[name]) ? args[name].length : 1;

const roughly =
  (size: number): Estimate =>
  () =>
    size;

/**
 * Estimates of how many objects a field returns. Connections count by their `first`, so their edges and nodes do not
 * count again; cells and clusters of a viewport by what fills a large screen; a level of places by the longest list
 * that is useful; a single object that needs a read of its own as one.
 */
const SIZES: Readonly<Record<string, Estimate>> = {
  'Query.nodes': byLength('ids'),
  'Query._entities': byLength('representations'),
  'Query.collections': byCount('first'),
  'Query.search': byCount('first'),
  'Collection.markers': byCount('first'),
  'Collection.markersIn': byCount('first'),
  'Collection.places': roughly(1_000),
  'Collection.within': byCount('first'),
  'Collection.nearest': byCount('count'),
  'Collection.inside': byCount('first'),
  'Collection.marker': roughly(1),
  'Collection.zone': roughly(1),
  'Collection.zones': byCount('first'),
  'Collection.zonesAt': roughly(10),
  'Collection.count': roughly(1),
  'Collection.bounds': roughly(1),
  'Zone.markers': byCount('first'),
  'Marker.cell': roughly(1),
  'Marker.readings': byCount('last'),
  'Marker.readingSummaries': byCount('first'),
  'Cell.parent': roughly(1),
  'Cell.children': roughly(32),
  'Cell.markers': byCount('first'),
  'Viewport.markers': byCount('first'),
  'Viewport.cells': roughly(1_500),
  'Viewport.clusters': roughly(250),
  'Viewport.zones': byCount('first'),
  'Viewport.auto': byCount('limit'),
  'Viewport.features': byCount('limit'),
  'Mutation.createMarkers': byLength('markers'),
};

interface Scope {
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Record<string, unknown>;
}

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode, { variables }: Scope): Arguments {
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    // The executor reports such errors.
    return {};
  }
}

/** What an operation may return, and read units that it may take. */
interface Extent {
  objects: number;
  units: number;
}

/** The extent of the fields under one object of `type`; nested lists multiply. */
function extentUnder(type: GraphQLNamedType | undefined, set: SelectionSetNode, scope: Scope): Extent {
  const sum: Extent = { objects: 0, units: 0 };
  const add = ({ objects, units }: Extent, times = 1) => {
    sum.objects += objects * times;
    sum.units += units * times;
  };
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = scope.fragments.get(selection.name.value);
      const on = fragment && scope.schema.getType(fragment.typeCondition.name.value);
      if (fragment) add(extentUnder(on, fragment.selectionSet, scope));
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const on = selection.typeCondition ? scope.schema.getType(selection.typeCondition.name.value) : type;
      add(extentUnder(on, selection.selectionSet, scope));
    } else {
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
      if (type === undefined || field === undefined) continue;
      const name = `${type.name}.${field.name}`;
      const [size, bound] = [SIZES[name], UNIT_BOUNDS[name]];
      const args = size || bound ? argumentsOf(field, selection, scope) : {};
      const objects = size?.(args, scope.limits);
      add({ objects: objects ?? 0, units: bound?.(args, scope.limits) ?? 0 });
      if (selection.selectionSet) add(extentUnder(getNamedType(field.type), selection.selectionSet, scope), objects);
    }
  }
  return sum;
}

/**
 * A bound of the read units that an operation takes. Throws LIMIT_EXCEEDED if its lists may add up to more than `maxNodes`
 * objects. The document has been validated, so its fragments do not contain themselves.
 */
export function checkAnswerSize(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Arguments,
  limits: Limits,
): number {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  // The executor reports invalid variables.
  if (coerced === undefined) return 0;
  const root = schema.getRootType(operation.operation) ?? undefined;
  const scope = { schema, limits, fragments: fragmentsOf(document), variables: coerced };
  const { objects, units } = extentUnder(root, operation.selectionSet, scope);
  if (objects > limits.maxNodes) {
    throw limitExceeded('number of objects that the lists of the query can return', objects, limits.maxNodes, SHORTER);
  }
  return units;
}
