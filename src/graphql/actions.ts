import {
  getArgumentValues,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

import type { Access } from '../access/access.js';
import { CellportError, notFound } from '../errors.js';
import { parseId } from '../keys/ids.js';
import type { Action } from '../model/grant.js';
import type { MutationResolvers } from './generated.js';
import { fragmentsOf } from './limits/document-limits.js';

/** What a mutation needs of the collection that its arguments name. */
interface Need {
  readonly action: Action;
  /** The argument, or the path into it, with the key of the collection or the ID of something of it. */
  readonly names: readonly string[];
  /** Whether its answer shows what was there before. */
  readonly shows?: boolean;
}

/** A mutation that is missing here does not compile. */
export const MUTATIONS: Readonly<Record<Exclude<keyof Required<MutationResolvers>, '__isTypeOf'>, Need>> = {
  createCollection: { action: 'admin', names: ['input', 'key'] },
  updateCollection: { action: 'admin', names: ['input', 'key'], shows: true },
  deleteCollection: { action: 'admin', names: ['key'], shows: true },
  createMarker: { action: 'write', names: ['input', 'collection'] },
  createMarkers: { action: 'write', names: ['collection'] },
  upsertMarkers: { action: 'write', names: ['collection'] },
  updateMarker: { action: 'write', names: ['input', 'id'], shows: true },
  deleteMarker: { action: 'write', names: ['id'], shows: true },
  deleteMarkers: { action: 'write', names: [] },
  recordReadings: { action: 'record', names: ['marker'] },
  createZone: { action: 'write', names: ['input', 'collection'] },
  updateZone: { action: 'write', names: ['input', 'id'], shows: true },
  deleteZone: { action: 'write', names: ['id'], shows: true },
};

export type MutationName = keyof typeof MUTATIONS;
export const isMutation = (name: string): name is MutationName => Object.hasOwn(MUTATIONS, name);

/** NOT_FOUND for a collection that the principal may not know of, FORBIDDEN for one that it may read. Whether it exists is not asked. */
export function refusalOf(access: Access, action: Action, key: string): CellportError {
  if (access.grant('read', key) === undefined) return notFound('collection', key);
  const message = `you may not ${action === 'admin' ? 'change' : action === 'record' ? 'record readings in' : 'write to'} collection ${key}`;
  return new CellportError('FORBIDDEN', message, { collection: key, action });
}

/** The fields of an operation, those in fragments included. */
export function fieldsOf(document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] {
  const fragments = fragmentsOf(document);
  const fieldsIn = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection];
      const spread = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      return spread ? fieldsIn(spread.selectionSet) : [];
    });
  return fieldsIn(operation.selectionSet);
}

/**
 * Refuses a mutation before any of its fields is executed. Throws FORBIDDEN or NOT_FOUND for the first field that the
 * principal may not ask for.
 */
export function checkMutation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  access: Access,
): void {
  const fields = schema.getMutationType()?.getFields() ?? {};
  for (const selection of fieldsOf(document, operation)) {
    const name = selection.name.value;
    const field = fields[name];
    if (!isMutation(name) || field === undefined) continue;
    const { names } = MUTATIONS[name];
    let value: unknown = getArgumentValues(field, selection, variables);
    for (const step of names) value = (value as Readonly<Record<string, unknown>> | null)?.[step];
    if (typeof value !== 'string') continue;
    const id = ['id', 'marker'].includes(names.at(-1) ?? '') ? parseId(value) : undefined;
    const key = id === undefined ? value : id.type === 'collection' ? id.key : id.collection;
    requireAction(access, name, key);
  }
}

/** Throws FORBIDDEN or NOT_FOUND if the principal may not do what a mutation does with the collection of a key. */
export function requireAction(access: Access | undefined, name: MutationName, key: string): void {
  if (access === undefined) return;
  const { action, shows = false } = MUTATIONS[name];
  if (access.grant(action, key) === undefined) throw refusalOf(access, action, key);
  if (shows && access.grant('read', key) === undefined) throw notFound('collection', key);
}
