import type { GraphQLSchema } from 'graphql';

import { compileOperation } from '../../src/graphql/compiled.js';
import { type Executor, interpreting } from '../../src/graphql/executor.js';

/** What a comparison has seen. */
export interface Comparison {
  /** Operations that were run both ways and answered with data alone. */
  same: number;
  /** Operations that have no compiled form. */
  interpretedOnly: number;
  /** Of answers that were not the same text: what was asked and both answers. */
  readonly differences: string[];
}

export const newComparison = (): Comparison => ({ same: 0, interpretedOnly: 0, differences: [] });

/**
 * Runs each operation by graphql-js, then compiled, then by graphql-js again, all in the same context: DynamoDB is read
 * once, and plans are made from the same cells. Returns the first answer, and records where the compiled form answered
 * other data, in another order of keys, or data instead of an error.
 */
export const comparing =
  (comparison: Comparison) =>
  (schema: GraphQLSchema): Executor => {
    const interpret = interpreting(schema);
    // Operations with their variables: each is compared once.
    const seen = new Set<string>();
    return async (execution) => {
      const { document, operation, context, variables } = execution;
      const text = JSON.stringify([document.loc?.source.body, operation?.name?.value, variables]);
      if (seen.has(text)) return interpret(execution);
      seen.add(text);
      const compiled = operation && compileOperation(schema, document, operation);
      const first = await interpret(execution);
      if (compiled === undefined) {
        comparison.interpretedOnly++;
        return first;
      }
      const quick = await compiled.run(context, variables);
      const result = await interpret(execution);
      const [a, b] = [quick, result].map((answer) => JSON.stringify([answer?.data, answer?.errors]));
      if (quick === undefined && result.errors !== undefined) return first;
      if (a === b) comparison.same++;
      else comparison.differences.push(`${document.loc?.source.body}\n${JSON.stringify(variables)}\n${a}\n${b}`);
      return first;
    };
  };
