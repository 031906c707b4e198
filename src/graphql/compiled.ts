import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  type VariableDefinitionNode,
  getArgumentValues,
  getVariableValues,
  isObjectType,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

import type { RequestContext } from './context.js';

type Values = Readonly<Record<string, unknown>>;

/** An operation as a function of its own. */
export interface CompiledOperation {
  /**
   * The data that graphql-js would answer with; undefined where it has to run instead, because something is wrong: with
   * the values of variables or arguments, or with any field.
   */
  run(context: RequestContext, variables: Values): Promise<ExecutionResult | undefined>;
}

/** A field with arguments, and the variables of the compiled document that stand in their place. */
interface Call {
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly variables: ReadonlyMap<string, string>;
}

const INTROSPECTION = new Set(['__schema', '__type']);

/** A name that an object literal takes for its prototype. */
const UNSAFE_NAME = '__proto__';

/** A scalar whose values are taken as they are. */
const ANY_VALUE = 'JSON';

/**
 * Whether graphql-jit answers this document as graphql-js does. Left to graphql-js is what it does otherwise (directives,
 * as their variables are checked differently), what it does without catching errors (types that only values tell),
 * introspection, which is no hot path, and everything that is not a single query.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  let fine = document.definitions.every(
    (definition) => definition === operation || definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const refuse = () => {
    fine = false;
  };
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive: refuse,
      Field({ name, alias }) {
        if (alias?.value === UNSAFE_NAME || INTROSPECTION.has(name.value)) refuse();
      },
      // What stands under an interface or a union: there are no fields of its own to find it by.
      SelectionSet() {
        if (!isObjectType(types.getParentType())) refuse();
      },
    }),
  );
  return fine;
}

/**
 * The document with a variable in place of each argument's value, to be filled with what graphql-js makes of the argument.
 * So no literal of a client is written into the code (graphql-jit would let some break out of their quotes), and
 * variables, defaults, lists and input objects are coerced by the one who knows how.
 */
function liftArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): { readonly document: DocumentNode; readonly calls: readonly Call[] } {
  const calls: Call[] = [];
  const names: string[] = [];
  const types = new TypeInfo(schema);
  const lifted = visit(
    document,
    visitWithTypeInfo(types, {
      Field: {
        enter(node) {
          const field = types.getFieldDef();
          if (!field || node.arguments === undefined || node.arguments.length === 0) return undefined;
          const variables = new Map<string, string>();
          const given = node.arguments.map((argument) => {
            const name = `a${names.length}`;
            names.push(name);
            variables.set(argument.name.value, name);
            return {
              ...argument,
              value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name }, loc: argument.value.loc },
            } as const;
          });
          calls.push({ field, node, variables });
          return { ...node, arguments: given };
        },
      },
    }),
  );
  const variableDefinitions = names.map((name): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: ANY_VALUE } },
  }));
  return {
    calls,
    document: {
      ...lifted,
      definitions: lifted.definitions.map((definition) =>
        definition.kind === operation.kind ? { ...definition, variableDefinitions } : definition,
      ),
    },
  };
}

/** What the lifted variables stand for in one request; undefined where a variable or an argument is wrong. */
function valuesOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  calls: readonly Call[],
  given: Values,
): Values | undefined {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (coerced === undefined) return undefined;
  const values: Record<string, unknown> = {};
  try {
    for (const { field, node, variables } of calls) {
      for (const [name, value] of Object.entries(getArgumentValues(field, node, coerced))) {
        const variable = variables.get(name);
        // A default of the schema has none; it is compiled in.
        if (variable !== undefined) values[variable] = value;
      }
    }
  } catch {
    return undefined;
  }
  return values;
}

/** The operation of a valid document as a function; undefined where it has to be left to graphql-js. */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | undefined {
  if (!isCompilable(schema, document, operation)) return undefined;
  const { calls, document: lifted } = liftArguments(schema, document, operation);
  const compiled = compileQuery(schema, lifted, operation.name?.value, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(compiled)) return undefined;
  return {
    async run(context, variables) {
      const values = valuesOf(schema, operation, calls, variables);
      if (values === undefined) return undefined;
      const result = await compiled.query(undefined, context, values);
      // Which of several errors are told, in what order and how far they reach is for graphql-js to say.
      return result.errors === undefined ? result : undefined;
    },
  };
}
