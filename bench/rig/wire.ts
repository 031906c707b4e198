import type { Database } from '../../src/store/database.js';

/** What went over the wire to DynamoDB, in read units by AWS's rule. */
export interface Wire {
  queries: number;
  batchGets: number;
  readUnits: number;
}

interface Capacity {
  readonly CapacityUnits?: number;
}

/** DynamoDB charges a Query or an item looked for half a unit at least; DynamoDB Local says 0 where it found nothing. */
const LEAST = 0.5;

/**
 * Counts what this database is sent from now on, each attempt and each page, beside the server's own metering. Units are
 * what DynamoDB reports, and never less than AWS charges.
 */
export function watchWire({ client }: Pick<Database, 'client'>): { readonly wire: Wire; reset(): void } {
  const wire: Wire = { queries: 0, batchGets: 0, readUnits: 0 };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = String(context.commandName);
      // The server itself asks for units only where a client asks for the cost.
      if (/^(Query|BatchGet)/.test(name)) Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const answer = await next(args);
      const { input } = args as { input: { RequestItems?: Record<string, { Keys?: readonly unknown[] }> } };
      const { ConsumedCapacity: consumed } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
      const units = [consumed ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      if (name === 'QueryCommand') {
        wire.queries += 1;
        wire.readUnits += Math.max(LEAST, units);
      }
      if (name === 'BatchGetItemCommand' || name === 'BatchGetCommand') {
        const keys = Object.values(input.RequestItems ?? {}).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
        wire.batchGets += 1;
        wire.readUnits += Math.max(LEAST * keys, units);
      }
      return answer;
    },
    { step: 'initialize', name: 'watch-wire', priority: 'low' },
  );
  return {
    wire,
    reset: () => Object.assign(wire, { queries: 0, batchGets: 0, readUnits: 0 }),
  };
}
