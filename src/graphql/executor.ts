import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
  execute,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { type CompiledOperation, compileOperation } from './compiled.js';
import type { RequestContext } from './context.js';

/** A valid document and which operation of it to run. */
export interface Execution {
  readonly document: DocumentNode;
  /** Undefined where the name names none; graphql-js says so. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}

export type Executor = (execution: Execution) => Promise<ExecutionResult>;

/** Runs operations as graphql-js does, field by field. */
export function interpreting(schema: GraphQLSchema): Executor {
  return async ({ document, operationName, variables, context }) =>
    execute({ schema, document, operationName, variableValues: variables, contextValue: context });
}

const MOST_KEPT = 500;
/** Compiling takes as long as several runs, so what is asked only once or twice is not worth it. */
const RUNS_BEFORE_COMPILING = 2;

/** What is known of an operation: how often it was run, then its compiled form; null where it has none. */
type Known = number | CompiledOperation | null;

/**
 * Runs operations that come again and again as compiled functions, which answer the same with less CPU. Whatever is
 * wrong or unusual is run by graphql-js, if need be a second time in the same context: its loaders have read by then.
 */
export function compiling(
  schema: GraphQLSchema,
  { runsBefore = RUNS_BEFORE_COMPILING }: { readonly runsBefore?: number } = {},
): Executor {
  const interpret = interpreting(schema);
  // By node, as the server keeps parsed documents: a text that is parsed again is counted again.
  const known = new LRUCache<OperationDefinitionNode, { readonly state: Known }>({ max: MOST_KEPT });

  function compiledForm(document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | undefined {
    const before: Known = known.get(operation)?.state ?? 0;
    if (typeof before !== 'number') return before ?? undefined;
    const state = before < runsBefore ? before + 1 : (compileOperation(schema, document, operation) ?? null);
    known.set(operation, { state });
    return typeof state === 'number' ? undefined : (state ?? undefined);
  }

  return async (execution) => {
    const { document, operation, context, variables } = execution;
    const compiled = operation && compiledForm(document, operation);
    return (await compiled?.run(context, variables)) ?? interpret(execution);
  };
}
