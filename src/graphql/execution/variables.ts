import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  GraphQLError,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  print,
  typeFromAST,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';

import { badInput, limitExceeded, shown } from '../../errors.js';
import { MAX_ERRORS } from './documents.js';

type Values = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/**
 * Maximum nesting of lists and objects in a value. DynamoDB stores 32 levels; much deeper values would overflow the
 * stack of code that reads them.
 */
export const MAX_NESTING = 64;
/** Longer names are not compared with known ones: that takes longer than refusing them. */
const LONGEST_SIMILAR_NAME = 100;

/** The path to the first value nested deeper than `levels`; undefined if there is none. */
export function pathTooDeep(value: unknown, levels: number = MAX_NESTING): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return [];
  // Without creating a pair for each member: a list may hold a million.
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (let index = 0; index < members.length; index++) {
    const path = pathTooDeep(members[index], levels - 1);
    if (path !== undefined) return [names?.[index] ?? index, ...path];
  }
  return undefined;
}

/** Maximum number of items in all lists whose items have a type in the schema: graphql-js checks each. */
const MOST_ITEMS = 100_000;
/** Checking an input object takes as long as several items. */
const ITEMS_OF_AN_OBJECT = 4;

/** The number of items in the lists of a value; too long a list is not looked into. */
function itemsIn(value: unknown, type: GraphQLInputType): number {
  const own = getNullableType(type);
  if (Array.isArray(value) && isListType(own)) {
    const items = value.length * (isInputObjectType(getNamedType(own)) ? ITEMS_OF_AN_OBJECT : 1);
    return items > MOST_ITEMS ? items : value.reduce((sum: number, item) => sum + itemsIn(item, own.ofType), items);
  }
  if (!isInputObjectType(own) || typeof value !== 'object' || value === null) return 0;
  const members = own.getFields();
  return Object.entries(value).reduce((sum, [name, item]) => {
    const member = typeof item === 'object' ? members[name] : undefined;
    return member ? sum + itemsIn(item, member.type) : sum;
  }, 0);
}

/** A path as graphql-js writes it: `bounds.west`, `input.place[0]`. */
const written = (variable: string, path: Path) =>
  variable + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');

/** The value of a `MarkerInput`, its position in a form that `PointInput` passes on. */
function withAnyPosition(marker: unknown): unknown {
  const sent = (marker ?? {}) as { readonly position?: { readonly lng?: unknown; readonly lat?: unknown } | null };
  const { position } = sent;
  if (position === undefined || position === null) return marker;
  const { lng = null, lat = null } = position;
  if (lng !== null && lat !== null) return marker;
  // A number alone would be a coordinate.
  const all = typeof position === 'number' ? [position] : position;
  return { ...sent, position: { lng: lng ?? all, lat: lat ?? all } };
}

/**
 * The variables, with positions of markers that GraphQL would refuse together with their whole batch in a form that it
 * passes on, to be one failure each: JSON writes NaN as null. In place of a coordinate that is missing, and so in the
 * message, stands the position as it was sent.
 */
export function withAnyPositions({ variableDefinitions = [] }: OperationDefinitionNode, given: Values): Values {
  const values = { ...given };
  for (const { type, variable } of variableDefinitions) {
    // One that is not given may have a default.
    if (!Object.hasOwn(given, variable.name.value) || !/\bMarkerInput\b/.test(print(type))) continue;
    const value = values[variable.name.value];
    if (!Array.isArray(value)) values[variable.name.value] = withAnyPosition(value);
    else if (value.length <= MOST_ITEMS) values[variable.name.value] = value.map(withAnyPosition);
  }
  return values;
}

/** Thrown to stop validation once enough errors have been found. */
class Enough extends Error {}

/** Adds the errors in the value of one variable, worded as graphql-js does but with values cut short. */
function check(
  schema: GraphQLSchema,
  definition: VariableDefinitionNode,
  given: Values,
  { hideSuggestions, add }: { readonly hideSuggestions: boolean; readonly add: (error: GraphQLError) => void },
): void {
  const name = definition.variable.name.value;
  const type = typeFromAST(schema, definition.type);
  // Validation refuses all other types.
  if (!isInputType(type)) return;
  const refuse = (message: string, path: Path = [], cause?: GraphQLError) =>
    add(
      new GraphQLError(`Variable "$${name}" ${message}`, {
        nodes: definition,
        originalError: cause,
        extensions: { field: written(name, path) },
      }),
    );
  if (!Object.hasOwn(given, name)) {
    if (definition.defaultValue === undefined && isNonNullType(type)) {
      refuse(`of required type "${String(type)}" was not provided.`);
    }
    return;
  }
  const value = given[name];
  if (value === null && isNonNullType(type)) {
    refuse(`of non-null type "${String(type)}" must not be null.`);
    return;
  }
  coerceInputValue(
    value,
    type,
    (path, invalid, error) => {
      const place = path.length === 0 ? '' : ` at "${written(name, path)}"`;
      refuse(`got invalid value ${shown(invalid)}${place}; ${error.message}`, path, error);
    },
    hideSuggestions,
  );
}

function hasLongName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasLongName);
  return Object.entries(value).some(([name, member]) => name.length > LONGEST_SIMILAR_NAME || hasLongName(member));
}

/** The errors of all variables; after the first 20, one that says that there are more. */
function mistakes(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  given: Values,
  hideSuggestions: boolean,
): readonly GraphQLError[] {
  const errors: GraphQLError[] = [];
  const add = (error: GraphQLError) => {
    if (errors.length === MAX_ERRORS) throw new Enough();
    errors.push(error);
  };
  try {
    for (const definition of definitions) check(schema, definition, given, { hideSuggestions, add });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    errors.push(new GraphQLError(`The variables have more errors; only the first ${MAX_ERRORS} are listed.`));
  }
  return errors;
}

/**
 * The errors in the variables of an operation: BAD_USER_INPUT with the path for values nested too deep, LIMIT_EXCEEDED for
 * lists that are too long together, otherwise up to
 * 20 GraphQLErrors with the path as `field` for values of the wrong type. graphql-js would find the same when it
 * executes the operation, but write whole values into its errors.
 */
export function variableErrors(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Values,
  { hideSuggestions }: { readonly hideSuggestions: boolean },
): readonly Error[] {
  for (const [name, value] of Object.entries(given)) {
    const path = pathTooDeep(value);
    if (path !== undefined) {
      return [badInput(written(name, path), value, `nested at most ${MAX_NESTING} levels deep`)];
    }
  }
  const items = variableDefinitions.reduce((sum, { type: node, variable: { name } }) => {
    const type = typeFromAST(schema, node);
    return isInputType(type) ? sum + itemsIn(given[name.value], type) : sum;
  }, 0);
  if (items > MOST_ITEMS)
    return [
      limitExceeded('number of list items in the variables', items, MOST_ITEMS, 'split it into several requests'),
    ];
  const errors = mistakes(schema, variableDefinitions, given, true);
  // Similar names are searched for only if there is an error.
  if (errors.length === 0 || hideSuggestions || hasLongName(given)) return errors;
  return mistakes(schema, variableDefinitions, given, false);
}
