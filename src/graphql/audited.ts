import { valueFromASTUntyped, type FieldNode, type GraphQLFormattedError } from 'graphql';

import { parseId } from '../keys/ids.js';
import { groupBy } from '../loaders/group.js';
import type { AuditedChange } from '../model/audit.js';
import { answerKey, executedFields } from './actions.js';
import type { Execution } from './execution/executor.js';
import type { Outcome } from './work.js';

const MOST_KEYS = 20;
const MOST_KEYS_IN_ALL = 100;
const LONGEST_KEY = 128;

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[];
}
type Values = Readonly<Record<string, unknown>>;
const isText = (value: unknown): value is string => typeof value === 'string';
/** GraphQL takes a value for a list of one. */
const listIn = (value: unknown): readonly unknown[] => [value ?? []].flat();
const cut = (text: string) => text.slice(0, LONGEST_KEY);

/** The collection that a field is about, and keys or IDs in it; of a list, one for each item, as far as it has one. */
function subjectOf({ arguments: given = [] }: FieldNode, variables: Values) {
  const all = Object.fromEntries(given.map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]));
  const args = { ...all, ...(all['input'] as Values | undefined) } as Values;
  const marked = listIn(args['markers']).map((marker) => (marker as Values | null)?.['key']);
  const keys = [...[args['key'], args['id'], args['marker']].filter(isText), ...listIn(args['ids']), ...marked];
  const id = parseId(keys.find(isText) ?? '');
  const named = id?.type === 'collection' || id === undefined ? undefined : id.collection;
  return { collection: isText(args['collection']) ? cut(args['collection']) : named, keys };
}

/** What became of a mutation that has this result. */
export function outcomeOf(result: unknown): Outcome {
  type Listed = Partial<Outcome> & { readonly missing?: Outcome['failures']; readonly deleted?: number };
  const { failures = [], missing = [], deleted } = Object(result) as Listed;
  return { code: deleted === 0 ? 'NOT_FOUND' : 'OK', failures: [...failures, ...missing] };
}

/** What a mutation has changed, or did not for the error in its answer. */
export function changesIn(execution: Execution, result: Result): AuditedChange[] {
  const { document, operation } = execution;
  if (operation === undefined) return [];
  const { data, errors = [] } = result;
  const { fields, variables } = executedFields(document, operation, execution.variables);
  const { outcomes } = execution.context.work;
  // An error may also be of what the answer was to show of a change that has been made.
  const refusalOf = (field: FieldNode) => {
    const isOfAll = data === undefined && outcomes.size === 0;
    const error = errors.find(({ path }) => isOfAll || path?.[0] === answerKey(field));
    const code = error?.extensions?.['code'];
    return isText(code) ? code : 'NOT_EXECUTED';
  };
  let left = MOST_KEYS_IN_ALL;
  const asked = fields.filter(({ name }) => !name.value.startsWith('__'));
  return asked.flatMap((field) => {
    const { collection, keys } = subjectOf(field, variables);
    const { code, failures } = outcomes.get(answerKey(field)) ?? { code: refusalOf(field), failures: [] };
    const failed = new Map(failures.map((failure) => [failure.index, failure.code]));
    const each = (keys.length === 0 ? [undefined] : keys).entries();
    const parts = groupBy([...each], ([index]) => failed.get(index) ?? code);
    return Array.from(parts, ([outcome, some]) => {
      const named = some.flatMap(([, key]) => (isText(key) ? key : []));
      const shown = named.slice(0, Math.min(left, MOST_KEYS)).map(cut);
      left -= shown.length;
      return { what: field.name.value, collection, keys: shown, more: named.length - shown.length, outcome };
    });
  });
}
