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

/** One operation of a valid document, and everything needed to execute it. */
export interface Execution {
  readonly document: DocumentNode;
  /** Undefined if no operation has this name; graphql-js reports that. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  /** The event that a subscription is answering. */
  readonly root?: unknown;
}

export type Executor = (execution: Execution) => Promise<ExecutionResult>;

/** Executes operations with graphql-js, field by field. */
export function interpreting(schema: GraphQLSchema): Executor {
  return async ({ document, operationName, variables, context, root }) =>
    execute({ schema, document, operationName, variableValues: variables, contextValue: context, rootValue: root });
}

const MAX_OPERATIONS = 500;
/** Compiling takes as long as several runs, which does not pay off for operations that are executed once or twice. */
const RUNS_BEFORE_COMPILING = 2;

/** The number of interpreted runs so far, then the compiled form; null if it cannot be compiled. */
type State = number | CompiledOperation | null;

/**
 * Executes repeated operations as compiled functions: the same results for less CPU. Operations that fail or cannot be
 * compiled are executed by graphql-js, if necessary a second time in the same context, where the loaders have cached
 * the reads.
 */
export function compiling(
  schema: GraphQLSchema,
  { runsBefore = RUNS_BEFORE_COMPILING }: { readonly runsBefore?: number } = {},
): Executor {
  const interpret = interpreting(schema);
  // Keyed by node, like the parsed documents of Apollo Server: a document that is parsed again starts from zero.
  const known = new LRUCache<OperationDefinitionNode, { readonly state: State }>({ max: MAX_OPERATIONS });

  function compiledForm(document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | undefined {
    const before: State = known.get(operation)?.state ?? 0;
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
