import type { DynamoDBClient, PutItemCommandInput } from '@aws-sdk/client-dynamodb';

import { AnswerLost, mayHaveArrived } from './failures.js';

/** The condition that an item does not exist. */
export const ABSENT = 'attribute_not_exists(pk)';

/**
 * Lets the SDK repeat the creation of an item with an incarnation only if it did not arrive or was refused: if its answer
 * was lost, a second one would bring back what others have deleted since. Commands then fail with AnswerLost.
 */
export function createOnce({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => async (request) => {
      const { ConditionExpression, Item: item } = request.input as Partial<PutItemCommandInput>;
      try {
        return await next(request);
      } catch (error) {
        if (ConditionExpression !== ABSENT || item?.['life'] === undefined || !mayHaveArrived(error)) throw error;
        throw new AnswerLost(error);
      }
    },
    // Within the middleware that retries.
    { step: 'finalizeRequest', priority: 'low', name: 'createOnce' },
  );
}
