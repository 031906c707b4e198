import { setFlagsFromString } from 'node:v8';
import {
  getArgumentValues,
  getVariableValues,
  isObjectType,
  Kind,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

import type { RequestContext } from '../context.js';
import { fieldsOf } from '../limits/bounded-lists.js';
import { documentBytes, fragmentsOf } from '../limits/document-limits.js';
import { withMarkerTexts } from './marker-lists.js';

type Values = Readonly<Record<string, unknown>>;

/** An operation compiled into a function. */
export interface CompiledOperation {
  /**
   * The result that graphql-js would give; undefined if graphql-js has to execute the operation because a variable,
   * argument or field fails or a list is too long to be completed at once.
   */
  run(context: RequestContext, variables: Values): Promise<ExecutionResult | undefined>;
  /** The approximate memory in bytes that it keeps, its document included. */
  readonly bytes: number;
}

/** A field with arguments, and the variables of the compiled document that replace these. */
interface LiftedField {
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly variables: ReadonlyMap<string, string>;
}

const INTROSPECTION = new Set(['__schema', '__type']);

/** A key that would set the prototype in an object literal. */
const UNSAFE_NAME = '__proto__';

/**
 * Includes fields of fragments. Compiling cannot be interrupted; it took 35 ms of CPU for 151 fields on a busy machine.
 */
const MAX_FIELDS = 150;

// V8 would keep all code that was ever compiled from text until its tenth full garbage collection after: 400 MB by 200
// documents. Modules are compiled once anyway.
setFlagsFromString('--no-compilation-cache');

/** Where graphql-jit leaves the code that it generates. Only its length is read. */
const CODE = '__DO_NOT_USE_THIS_OR_YOU_WILL_BE_FIRED_compilation';
/** Memory for a character of code, with what V8 makes of it: 1.4 to 5.9 bytes, most where names are short. */
const BYTES_OF_CODE = 6;

/** A scalar that accepts any value unchanged. */
const ANY_VALUE = 'JSON';

/**
 * Whether graphql-jit gives the same results as graphql-js for this document. It does not for directives, whose
 * variables it validates differently, or for abstract types, whose errors it does not catch. Introspection, documents
 * with several operations and very long ones are not worth compiling.
 */
function isCompilable(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  const fragments = Object.fromEntries(fragmentsOf(document));
  if (fieldsOf(operation.selectionSet, fragments) > MAX_FIELDS) return false;
  let compilable = document.definitions.every(
    (definition) => definition === operation || definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  const refuse = () => {
    compilable = false;
  };
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive: refuse,
      Field({ name, alias }) {
        if (alias?.value === UNSAFE_NAME || INTROSPECTION.has(name.value)) refuse();
      },
      // Selections on an interface or a union.
      SelectionSet() {
        if (!isObjectType(types.getParentType())) refuse();
      },
    }),
  );
  return compilable;
}

/**
 * The document with a variable in place of each argument value, to be filled with the value that graphql-js coerces.
 * This keeps literals from clients out of the generated code, where graphql-jit would let some break out of their
 * quotes, and leaves the coercion of variables, defaults, lists and input objects to graphql-js.
 */
function liftArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): { readonly document: DocumentNode; readonly calls: readonly LiftedField[] } {
  const calls: LiftedField[] = [];
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

/** The values of the lifted variables in one request; undefined if a variable or an argument is invalid. */
function valuesOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  calls: readonly LiftedField[],
  given: Values,
): Values | undefined {
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], given);
  if (coerced === undefined) return undefined;
  const values: Record<string, unknown> = {};
  try {
    for (const { field, node, variables } of calls) {
      for (const [name, value] of Object.entries(getArgumentValues(field, node, coerced))) {
        const variable = variables.get(name);
        // Defaults in the schema have no variable; they are compiled in.
        if (variable !== undefined) values[variable] = value;
      }
    }
  } catch {
    return undefined;
  }
  return values;
}

/** Compiles an operation of a valid document into a function; undefined if only graphql-js can execute it. */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | undefined {
  if (!isCompilable(schema, document, operation)) return undefined;
  const { calls, document: lifted } = liftArguments(schema, document, operation);
  const { lists, ...withTexts } = withMarkerTexts(schema, lifted);
  // `debug` is missing in its types.
  const options = { disablingCapturingStackErrors: true, debug: true };
  const compiled = compileQuery(withTexts.schema, withTexts.document, operation.name?.value, options);
  if (!isCompiledQuery(compiled)) return undefined;
  const { query, [CODE]: code } = compiled as typeof compiled & { readonly [CODE]: string };
  let answersAreShort = true;
  return {
    bytes: BYTES_OF_CODE * code.length + documentBytes(document),
    async run(context, variables) {
      const values = answersAreShort ? valuesOf(schema, operation, calls, variables) : undefined;
      if (values === undefined) return undefined;
      const attempt = { tooLong: false, lists };
      const result = await query(undefined, { ...context, compiled: attempt }, values);
      if (attempt.tooLong) answersAreShort = false;
      // graphql-js counts the objects again when it executes the operation.
      if (result.errors !== undefined) context.work.recount();
      // graphql-js decides which errors are reported, in which order, and what they null.
      return result.errors === undefined ? result : undefined;
    },
  };
}
