import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** Calls and units since counting began. */
export interface Units {
  /** Query, GetItem and write calls; a transaction counts as one. */
  calls: number;
  readUnits: number;
  /** As DynamoDB Local reports them. */
  reportedWriteUnits: number;
  /** As AWS charges them, see `countUnits`. */
  writeUnits: number;
}

interface Capacity {
  readonly CapacityUnits?: number;
}

const none = (): Units => ({ calls: 0, readUnits: 0, reportedWriteUnits: 0, writeUnits: 0 });

/**
 * Counts the units of all requests of a client from now on, as DynamoDB Local reports them. Items of a transaction, here
 * all under 1 KB, count as 2 write units each, as AWS charges them, because DynamoDB Local reports fewer
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html).
 */
export function countUnits(client: DynamoDBDocumentClient): (work: () => Promise<unknown>) => Promise<Units> {
  let units = none();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = String(context.commandName);
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const { TransactItems = [] } = args.input as { TransactItems?: readonly unknown[] };
      const written = TransactItems.length;
      const answer = await next(args);
      const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Capacity | readonly Capacity[] };
      const reported = [ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      units.calls += 1;
      if (/^(Get|Query)/.test(name)) units.readUnits += reported;
      else {
        units.reportedWriteUnits += reported;
        units.writeUnits += written > 0 ? 2 * written : reported;
      }
      return answer;
    },
    { step: 'initialize', name: 'count-units', priority: 'low' },
  );
  return async (work) => {
    units = none();
    await work();
    return { ...units };
  };
}
