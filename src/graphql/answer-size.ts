import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isInterfaceType,
  isObjectType,
} from 'graphql';

import { limitExceeded } from '../errors.js';
import type { Limits } from '../model/limits.js';

type Arguments = Readonly<Record<string, unknown>>;
type Estimate = (args: Arguments, limits: Limits) => number;

/** As many as an argument says. A number that is refused by its field, with a better reason, makes no objects. */
const counted =
  (name: string): Estimate =>
  (args, { maxFirst }) => {
    const count = args[name];
    return typeof count === 'number' && count >= 1 && count <= maxFirst ? count : 0;
  };

const listed =
  (name: string): Estimate =>
  (args) =>
    Array.isArray(args[name]) ? args[name].length : 1;

const about =
  (size: number): Estimate =>
  () =>
    size;

/**
 * How many objects a field may answer with. Connections count by their `first`, so their edges and nodes do not count
 * again; a rectangle's cells and clusters by what fills a large screen, a level of places by more than anybody picks from; what takes reads of its own as one.
 */
const SIZES: Readonly<Record<string, Estimate>> = {
  'Query.nodes': listed('ids'),
  'Query.collections': counted('first'),
  'Collection.markers': counted('first'),
  'Collection.markersIn': counted('first'),
  'Collection.places': about(1_000),
  'Collection.within': counted('first'),
  'Collection.nearest': counted('count'),
  'Collection.inside': counted('first'),
  'Collection.marker': about(1),
  'Collection.zone': about(1),
  'Collection.zones': counted('first'),
  'Collection.zonesAt': about(10),
  'Collection.count': about(1),
  'Collection.bounds': about(1),
  'Zone.markers': counted('first'),
  'Marker.cell': about(1),
  'Marker.readings': counted('last'),
  'Cell.parent': about(1),
  'Cell.children': about(32),
  'Cell.markers': counted('first'),
  'Viewport.markers': counted('first'),
  'Viewport.cells': about(1_500),
  'Viewport.clusters': about(250),
  'Viewport.zones': counted('first'),
  'Viewport.auto': counted('limit'),
  'Viewport.features': counted('limit'),
  'Mutation.createMarkers': listed('markers'),
};

/** What stands around the selections that are being counted. */
interface Scope {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Record<string, unknown>;
  readonly limits: Limits;
}

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode, { variables }: Scope): Arguments {
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    // The executor says what is wrong with them, at their place.
    return {};
  }
}

/** Objects under one object of `type`, lists in lists multiplied. */
function objectsUnder(type: GraphQLNamedType | undefined, set: SelectionSetNode, scope: Scope): number {
  let sum = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = scope.fragments.get(selection.name.value);
      const on = fragment && scope.schema.getType(fragment.typeCondition.name.value);
      if (fragment) sum += objectsUnder(on, fragment.selectionSet, scope);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      const on = selection.typeCondition ? scope.schema.getType(selection.typeCondition.name.value) : type;
      sum += objectsUnder(on, selection.selectionSet, scope);
    } else {
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined;
      if (type === undefined || field === undefined) continue;
      const size = SIZES[`${type.name}.${field.name}`];
      const own = size === undefined ? 0 : size(argumentsOf(field, selection, scope), scope.limits);
      const under = selection.selectionSet ? objectsUnder(getNamedType(field.type), selection.selectionSet, scope) : 0;
      sum += own + under * (size === undefined ? 1 : own);
    }
  }
  return sum;
}

export interface SizedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly limits: Limits;
}

/**
 * Refuses an operation whose lists may add up to more than `maxNodes` objects, before anything is read. The document has
 * been validated, so that its fragments do not stand in themselves. Throws LIMIT_EXCEEDED.
 */
export function checkAnswerSize({ schema, document, operation, variables, limits }: SizedOperation): void {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  // Variables that cannot be read end the request in the executor, which names them.
  if (coerced === undefined) return;
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const root = schema.getRootType(operation.operation) ?? undefined;
  const objects = objectsUnder(root, operation.selectionSet, { schema, fragments, variables: coerced, limits });
  if (objects > limits.maxNodes) {
    throw limitExceeded(
      'the objects that the lists of the query may add up to',
      objects,
      limits.maxNodes,
      'ask for shorter pages, or for fewer lists inside lists',
    );
  }
}
