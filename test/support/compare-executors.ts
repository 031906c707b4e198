import { print, type GraphQLSchema } from 'graphql';

import { compileOperation } from '../../src/graphql/execution/compiled.js';
import { interpreting, type Executor } from '../../src/graphql/execution/executor.js';

/** The result of a comparison. */
export interface Comparison {
  /** Operations that were run both ways and returned data without errors. */
  same: number;
  /** Operations that have no compiled form. */
  interpretedOnly: number;
  /** Responses that were not the same text, with their operations. */
  readonly differences: string[];
}

export const newComparison = (): Comparison => ({ same: 0, interpretedOnly: 0, differences: [] });

/** JSON; undefined for values nested too deep for JSON.stringify, which some tests send. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/**
 * Runs each operation with graphql-js, then compiled, then with graphql-js again, in the same context: DynamoDB is read
 * once, and plans are made from the same cells. Returns the first response, and records whenever the compiled form
 * returned different data, another order of keys, or data instead of an error.
 */
export const comparing =
  (comparison: Comparison) =>
  (schema: GraphQLSchema): Executor => {
    const interpret = interpreting(schema);
    // Operations with their variables; each is compared once.
    const seen = new Set<string>();
    return async (execution) => {
      const { document, operation, context, variables } = execution;
      const text = textOf([print(document), operation?.name?.value, variables]);
      if (text === undefined || seen.has(text)) return interpret(execution);
      seen.add(text);
      const compiled = operation && compileOperation(schema, document, operation);
      const first = await interpret(execution);
      if (compiled === undefined) {
        comparison.interpretedOnly++;
        return first;
      }
      context.work.recount();
      const quick = await compiled.run(context, variables);
      context.work.recount();
      const result = await interpret(execution);
      const [a, b] = [quick, result].map((answer) => JSON.stringify([answer?.data, answer?.errors]));
      // The client disconnected, or the deadline passed: whichever run was later was cut short.
      if (context.work.signal.aborted) return first;
      if (quick === undefined && result.errors !== undefined) return first;
      if (a === b) comparison.same++;
      else comparison.differences.push(`${print(document)}\n${JSON.stringify(variables)}\n${a}\n${b}`);
      return first;
    };
  };
