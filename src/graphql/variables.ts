import {
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
} from 'graphql';

import { badInput, shown } from '../errors.js';

type Values = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** Levels of lists and objects in a value. DynamoDB stores 32; deeper ones would overflow the stack of what reads them. */
export const MAX_NESTING = 64;
const MAX_ERRORS = 20;
/** Names longer than this resemble no field: comparing them takes longer than refusing them. */
const LONGEST_SIMILAR_NAME = 100;

/** The path to the first value that is nested deeper than `levels`; undefined if there is none. */
export function pathTooDeep(value: unknown, levels: number = MAX_NESTING): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return [];
  // Without a pair for each member: a list may hold a million.
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (let index = 0; index < members.length; index++) {
    const path = pathTooDeep(members[index], levels - 1);
    if (path !== undefined) return [names?.[index] ?? index, ...path];
  }
  return undefined;
}

/** A path as graphql-js writes it: `bounds.west`, `input.place[0]`. */
const written = (variable: string, path: Path) =>
  variable + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');

/** Ends the search for errors when there are enough of them. */
class Enough extends Error {}

/** Adds what is wrong with the value of one variable, as graphql-js words it, but with values cut short. */
function check(
  schema: GraphQLSchema,
  definition: VariableDefinitionNode,
  given: Values,
  { hideSuggestions, add }: { readonly hideSuggestions: boolean; readonly add: (error: GraphQLError) => void },
): void {
  const name = definition.variable.name.value;
  const type = typeFromAST(schema, definition.type);
  // Validation refuses any other type.
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

/** The errors of all variables, or the first of them and one that says that there are more. */
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
    errors.push(new GraphQLError(`There are more errors in the variables than these ${MAX_ERRORS}.`));
  }
  return errors;
}

/**
 * What is wrong with the variables of an operation: nested too deep, BAD_USER_INPUT with the path; or not of their types,
 * up to 20 GraphQLErrors with the path as `field`. graphql-js would find the same when it executes the operation, but
 * write whole values into its errors.
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
  const errors = mistakes(schema, variableDefinitions, given, true);
  // Similar names are looked for only where there is something wrong.
  if (errors.length === 0 || hideSuggestions || hasLongName(given)) return errors;
  return mistakes(schema, variableDefinitions, given, false);
}
