import type { Database } from '../../src/store/database.js';

/** Requests sent to DynamoDB, with read units by AWS's rule. */
export interface Wire {
  queries: number;
  batchGets: number;
  /** Items read by GetItem. */
  gets: number;
  readUnits: number;
}

interface Capacity {
  readonly CapacityUnits?: number;
}

/** DynamoDB charges at least half a unit per Query or item; DynamoDB Local reports 0 if nothing was found. */
const LEAST = 0.5;

/**
 * Counts everything sent to this database from now on, including each retry and each page, independently of the server's own
 * metering. Units are those that DynamoDB reports, but at least what AWS charges.
 */
export function watchWire({ client }: Pick<Database, 'client'>): { readonly wire: Wire; reset(): void } {
  const wire: Wire = { queries: 0, batchGets: 0, gets: 0, readUnits: 0 };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = String(context.commandName);
      // The server requests units only if a client requests the cost.
      if (/^(Query|BatchGet|Get)/.test(name)) Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const answer = await next(args);
      const { input } = args as { input: { RequestItems?: Record<string, { Keys?: readonly unknown[] }> } };
      const { ConsumedCapacity: consumed } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
      const units = [consumed ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      if (name === 'QueryCommand') {
        wire.queries += 1;
        wire.readUnits += Math.max(LEAST, units);
      }
      if (name === 'GetCommand' || name === 'GetItemCommand') {
        wire.gets += 1;
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
    reset: () => Object.assign(wire, { queries: 0, batchGets: 0, gets: 0, readUnits: 0 }),
  };
}
