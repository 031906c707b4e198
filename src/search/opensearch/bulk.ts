import type { Key } from '../../keys/document-id.js';
import { statusOf, type Client } from './client.js';

/** Bytes of a request, below what the smallest instances of AWS accept; a larger document has a request of its own. */
const REQUEST_BYTES = 5_000_000;

/** What is written for one document, on the condition that it is as it was read. */
export interface BulkOperation {
  readonly id: string;
  readonly key: Key;
  readonly lines: string;
}

export interface BulkOutcome {
  readonly operation: BulkOperation;
  readonly status: number;
  readonly reason: string;
}

export interface BulkTarget {
  readonly client: Client;
  readonly index: string;
  /** Whether changes are found at once, and not up to a second later. */
  readonly refresh: boolean;
}

interface BulkItem {
  readonly status: number;
  readonly error?: {
    readonly type: string;
    readonly reason?: string;
    readonly caused_by?: { readonly reason?: string };
  };
}

function outcomeOf(operation: BulkOperation, item: BulkItem | undefined): BulkOutcome {
  const { type = '', reason = '', caused_by: cause } = item?.error ?? {};
  const reasons = [type, reason, cause?.reason].filter((text) => text !== undefined && text !== '');
  return { operation, status: item?.status ?? 500, reason: reasons.join(': ') };
}

/** One request; where the cluster rejects all of it, its halves, until the document is found that it does not take. */
async function sendBulk(target: BulkTarget, operations: readonly BulkOperation[]): Promise<BulkOutcome[]> {
  const [only] = operations;
  if (only === undefined) return [];
  const { client, index, refresh } = target;
  try {
    const { body } = await client.bulk({
      index,
      require_alias: true,
      refresh,
      // As lines, which its type does not name.
      body: operations.map(({ lines }) => lines).join('') as never,
    });
    return (body.items as unknown as readonly Readonly<Record<string, BulkItem>>[]).map((item, place) =>
      outcomeOf(operations[place] ?? only, Object.values(item)[0]),
    );
  } catch (error) {
    const status = statusOf(error);
    if (status !== 400 && status !== 413) throw error;
    if (operations.length === 1) return [{ operation: only, status, reason: String(error) }];
    const half = Math.ceil(operations.length / 2);
    const first = await sendBulk(target, operations.slice(0, half));
    return [...first, ...(await sendBulk(target, operations.slice(half)))];
  }
}

/** Writes documents by the alias for writing, in requests of a size that the cluster accepts. */
export async function writeInBulk(target: BulkTarget, operations: readonly BulkOperation[]): Promise<BulkOutcome[]> {
  const outcomes: BulkOutcome[] = [];
  let request: BulkOperation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    if (bytes > 0 && bytes + operation.lines.length > REQUEST_BYTES) {
      outcomes.push(...(await sendBulk(target, request)));
      request = [];
      bytes = 0;
    }
    request.push(operation);
    bytes += operation.lines.length;
  }
  return [...outcomes, ...(await sendBulk(target, request))];
}
