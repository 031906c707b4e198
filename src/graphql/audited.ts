import { valueFromASTUntyped, type FieldNode, type GraphQLFormattedError } from 'graphql';

import { parseId } from '../keys/ids.js';
import type { AuditedChange } from '../model/audit.js';
import { answerKey, executedFields } from './actions.js';
import type { Execution } from './execution/executor.js';

const MOST_KEYS = 20;
const MOST_KEYS_IN_ALL = 100;
const LONGEST_KEY = 128;

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[];
}
type Values = Readonly<Record<string, unknown>>;
const isText = (value: unknown): value is string => typeof value === 'string';
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const cut = (text: string) => text.slice(0, LONGEST_KEY);

/** The collection that a field is about, and keys or IDs in it. */
function subjectOf({ arguments: given = [] }: FieldNode, variables: Values) {
  const all = Object.fromEntries(given.map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]));
  const args = { ...all, ...(all['input'] as Values | undefined) } as Values;
  const marked = listIn(args['markers']).map((marker) => (marker as Values | null)?.['key']);
  const keys = [args['key'], args['id'], args['marker'], ...listIn(args['ids']), ...marked].filter(isText);
  const id = parseId(keys[0] ?? '');
  const named = id?.type === 'collection' || id === undefined ? undefined : id.collection;
  return { collection: isText(args['collection']) ? cut(args['collection']) : named, keys };
}

/** What a mutation has changed, or did not for the error in its answer. */
export function changesIn(execution: Execution, result: Result): AuditedChange[] {
  const { document, operation } = execution;
  if (operation === undefined) return [];
  const { data, errors = [] } = result;
  const { fields, variables } = executedFields(document, operation, execution.variables);
  // One that must not be null ends the mutation; those before it have been executed.
  const last =
    data === null ? fields.findIndex((field) => errors.some(({ path }) => path?.[0] === answerKey(field))) : -1;
  const outcomeOf = (field: FieldNode, index: number) => {
    const error = errors.find(({ path }) => data === undefined || path?.[0] === answerKey(field));
    const isOver = last >= 0 && index > last;
    const code = error?.extensions?.['code'];
    return typeof code === 'string' ? code : isOver ? 'NOT_EXECUTED' : 'OK';
  };
  let left = MOST_KEYS_IN_ALL;
  return fields.map((field, index) => {
    const { collection, keys } = subjectOf(field, variables);
    const shown = keys.slice(0, Math.min(left, MOST_KEYS)).map(cut);
    left -= shown.length;
    return {
      what: field.name.value,
      collection,
      keys: shown,
      more: keys.length - shown.length,
      outcome: outcomeOf(field, index),
    };
  });
}
