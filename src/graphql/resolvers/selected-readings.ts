import {
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLObjectType,
  GraphQLSkipDirective,
  Kind,
  type DirectiveNode,
  type FieldNode,
  type GraphQLResolveInfo,
  type SelectionNode,
} from 'graphql';

import { badInput } from '../../errors.js';
import type { ReadingsWanted } from '../../store/reading/readings.js';
import { readFirst } from './arguments.js';

/** The arguments of `Marker.readings`. */
export interface ReadingsArguments {
  readonly last?: number | null | undefined;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
}

const LAST = 10;

type Instant = string | null | undefined;

/** Throws BAD_USER_INPUT if bounds in time are in the wrong order. */
export function checkBounds(from: Instant, to: Instant): void {
  if (from && to && from > to) throw badInput('from', from, `no later than to (${to})`);
}

/** The readings that these arguments select. Throws BAD_USER_INPUT naming the invalid argument. */
export function readReadingsArguments({ last, from, to }: ReadingsArguments, maxFirst: number): ReadingsWanted {
  checkBounds(from, to);
  return { last: readFirst('last', last ?? LAST, maxFirst), from: from ?? undefined, to: to ?? undefined };
}

function isSkipped(
  node: { readonly directives?: readonly DirectiveNode[] },
  { variableValues }: GraphQLResolveInfo,
): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] === true ||
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] === false
  );
}

/** The fields named `readings` in these selections; only Marker has a field of this name. */
function readingsNodes(selections: readonly SelectionNode[], info: GraphQLResolveInfo): FieldNode[] {
  return selections.flatMap((node) => {
    if (isSkipped(node, info)) return [];
    if (node.kind === Kind.FIELD) return node.name.value === 'readings' ? [node] : [];
    const under = node.kind === Kind.INLINE_FRAGMENT ? node : info.fragments[node.name.value];
    return readingsNodes(under?.selectionSet.selections ?? [], info);
  });
}

/**
 * The readings that a query selects of the marker being resolved, so that one Query call reads both. Invalid arguments
 * are omitted: the field itself reports them.
 */
export function selectedReadings(info: GraphQLResolveInfo, maxFirst: number): ReadingsWanted[] {
  const marker = info.schema.getType('Marker');
  const field = marker instanceof GraphQLObjectType ? marker.getFields()['readings'] : undefined;
  const nodes = info.fieldNodes.flatMap(({ selectionSet }) => readingsNodes(selectionSet?.selections ?? [], info));
  return nodes.flatMap((node) => {
    try {
      return field ? [readReadingsArguments(getArgumentValues(field, node, info.variableValues), maxFirst)] : [];
    } catch {
      return [];
    }
  });
}
