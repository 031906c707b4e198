import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import type { RequestContext } from '../context.js';
import { compileOperation, type CompiledOperation } from './compiled.js';

/** One operation of a valid document, and everything needed to execute it. */
export interface Execution {
  readonly document: DocumentNode;
  /** Undefined if no operation has this name; graphql-js reports that. */
  readonly operation: OperationDefinitionNode | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  /** A bound of the read units that it takes. */
  readonly units?: number;
  /** The event that a subscription is answering. */
  readonly root?: unknown;
}

export type Executor = (execution: Execution) => Promise<ExecutionResult>;

/** Executes operations with graphql-js, field by field. */
export function interpreting(schema: GraphQLSchema): Executor {
  return async ({ document, operationName, variables, context, root }) =>
    execute({ schema, document, operationName, variableValues: variables, contextValue: context, rootValue: root });
}

/** Memory for compiled operations, with the documents that they keep. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Compiling takes as long as several runs, which does not pay off for operations that are executed once or twice. */
const RUNS_BEFORE_COMPILING = 2;

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
  /** The number of interpreted runs. Counting keeps no document in memory. */
  const runs = new WeakMap<OperationDefinitionNode, number>();
  const known = new LRUCache<OperationDefinitionNode, CompiledOperation>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    // Otherwise more operations than fit would be compiled for each of their runs.
    dispose: (_, operation) => runs.delete(operation),
  });

  function compiledForm(document: DocumentNode, operation: OperationDefinitionNode): CompiledOperation | undefined {
    const before = known.get(operation);
    if (before !== undefined) return before;
    const run = runs.get(operation) ?? 0;
    runs.set(operation, run + 1);
    // A later run than this one finds it compiled, or that it cannot be.
    const compiled = run === runsBefore ? compileOperation(schema, document, operation) : undefined;
    if (compiled !== undefined) known.set(operation, compiled);
    return compiled;
  }

  return async (execution) => {
    const { document, operation, context, variables } = execution;
    const compiled = operation && compiledForm(document, operation);
    return (await compiled?.run(context, variables)) ?? interpret(execution);
  };
}
