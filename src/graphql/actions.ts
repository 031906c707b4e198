import {
  getArgumentValues,
  Kind,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import type { Access } from '../access/access.js';
import { CellportError, notFound } from '../errors.js';
import { parseId } from '../keys/ids.js';
import type { Action } from '../model/grant.js';
import type { RequestContext } from './context.js';
import type { MutationResolvers } from './generated.js';
import { fragmentsOf } from './limits/document-limits.js';
import { outcomeOfError } from './work.js';

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

type Values = Readonly<Record<string, unknown>>;

/** The name of a field in the answer. */
export const answerKey = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** The variables of an operation as they were given, with the defaults of the others. */
function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, given: Values): Values {
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
  );
  return { ...(Object.fromEntries(defaults) as Values), ...given };
}

/**
 * The fields that an operation executes, each once, those in fragments included but not those that directives leave out;
 * and the variables, of which some may have defaults.
 */
export function executedFields(document: DocumentNode, operation: OperationDefinitionNode, given: Values) {
  const fragments = fragmentsOf(document);
  const variables = withDefaults(operation, given);
  const isLeftOut = ({ directives = [] }: SelectionNode) =>
    directives.some(({ name: { value: name }, arguments: [condition] = [] }) => {
      if (condition === undefined || (name !== 'skip' && name !== 'include')) return false;
      return valueFromASTUntyped(condition.value, variables) === (name === 'skip');
    });
  const fieldsIn = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (isLeftOut(selection)) return [];
      if (selection.kind === Kind.FIELD) return [selection];
      const spread = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      return spread ? fieldsIn(spread.selectionSet) : [];
    });
  const fields = new Map(fieldsIn(operation.selectionSet).map((field) => [answerKey(field), field]));
  return { fields: [...fields.values()], variables };
}

/**
 * Refuses a mutation before any of its fields is executed. Throws FORBIDDEN or NOT_FOUND for the first field that the
 * principal may not ask for, and notes it.
 */
export function checkMutation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  given: Values,
  { access, work }: Pick<RequestContext, 'access' | 'work'>,
): void {
  const known = schema.getMutationType()?.getFields() ?? {};
  const { fields, variables } = executedFields(document, operation, given);
  for (const selection of fields) {
    const name = selection.name.value;
    const field = known[name];
    if (!isMutation(name) || field === undefined) continue;
    const { names } = MUTATIONS[name];
    let value: unknown = getArgumentValues(field, selection, variables);
    for (const step of names) value = (value as Values | null)?.[step];
    if (typeof value !== 'string') continue;
    const id = ['id', 'marker'].includes(names.at(-1) ?? '') ? parseId(value) : undefined;
    const key = id === undefined ? value : id.type === 'collection' ? id.key : id.collection;
    try {
      requireAction(access, name, key);
    } catch (error) {
      work.outcomes.set(answerKey(selection), outcomeOfError(error));
      throw error;
    }
  }
}

/** Throws FORBIDDEN or NOT_FOUND if the principal may not do what a mutation does with the collection of a key. */
export function requireAction(access: Access | undefined, name: MutationName, key: string): void {
  if (access === undefined) return;
  const { action, shows = false } = MUTATIONS[name];
  const grant = access.grant(action, key);
  if (grant === undefined) throw refusalOf(access, action, key);
  if (shows && access.grant('read', key) === undefined) throw notFound('collection', key);
  if (name !== 'deleteCollection' || grant.rows === undefined) return;
  const message = `you may not delete collection ${key}, of whose markers you may change only some`;
  throw new CellportError('FORBIDDEN', message, { collection: key, action });
}
