import type { GraphQLFormattedError } from 'graphql';

export interface Failed {
  readonly errors: readonly GraphQLFormattedError[];
}

/** The result of an operation, its errors in the form that clients see. */
export interface OperationResult extends Partial<Failed> {
  readonly data?: Readonly<Record<string, unknown>> | null;
}
