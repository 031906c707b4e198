import type { Clock } from '../../clock.js';
import type { Key } from '../../keys/document-id.js';
import { retry } from '../../retry.js';
import { chunks } from '../../store/request/pacing.js';
import type { SearchChange } from '../engine.js';
import { afterChanges, idOf, type ShapedChange, type Stored } from '../stored.js';
import { isConnectionError, mayPass, statusOf, type Client } from './client.js';

/** Bytes of a request, below what the smallest instances of AWS accept; a larger document has a request of its own. */
const REQUEST_BYTES = 5_000_000;

/** What is written for one document, on the condition that it is as it was read. */
interface BulkOperation {
  readonly id: string;
  readonly key: Key;
  readonly lines: string;
}

interface BulkOutcome {
  readonly operation: BulkOperation;
  readonly status: number;
  readonly reason: string;
}

interface BulkTarget {
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
async function writeInBulk(target: BulkTarget, operations: readonly BulkOperation[]): Promise<BulkOutcome[]> {
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

/** A document that OpenSearch does not take. */
export interface Refusal {
  readonly key: Key;
  readonly reason: string;
}

export interface WriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The geometry of a zone as GeoJSON; undefined if it has none that can be read. */
  readonly shapeOf: (change: SearchChange) => Promise<unknown>;
  /** Stores documents that OpenSearch does not take, for a later attempt. */
  readonly onRefused: (refusals: readonly Refusal[]) => Promise<void>;
  /** Whether changes are found at once, and not up to a second later: for tests. */
  readonly refresh?: boolean | undefined;
}

/** Documents that are read and written together. */
const DOCUMENTS = 500;
const ATTEMPTS = 8;

/** Some documents were changed by another writer, or rejected for now. */
class Unfinished extends Error {
  constructor(reasons: readonly string[]) {
    super(`OpenSearch has not taken ${reasons.length} documents yet, e.g.: ${reasons[0] ?? ''}`);
    this.name = 'Unfinished';
  }
}

interface ReadDocument {
  readonly _id: string;
  readonly found?: boolean;
  readonly _source?: Stored;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly error?: { readonly reason?: string };
}

/** Applies changes to an index, by the alias for writing: each document is replaced on the condition that it is as it was read. */
export class IndexWriter {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Applies changes in their order; once it resolves, the cluster has all of them, but for documents that it does not take. Throws
   * if the cluster does not respond or is too busy for long; then it may have applied some.
   */
  async apply(index: string, changes: readonly SearchChange[]): Promise<void> {
    const byId = new Map<string, ShapedChange[]>();
    for (const change of changes) {
      const id = idOf(change.type === 'put' ? change.document.key : change.key);
      const shape = await this.#options.shapeOf(change);
      const shaped = shape === undefined ? change : { ...change, shape };
      byId.set(id, [...(byId.get(id) ?? []), shaped]);
    }
    for (const some of chunks([...byId], DOCUMENTS)) await this.#settle(index, new Map(some));
  }

  /** Reads documents, decides what changes make of them and writes that, until each is written or refused. */
  async #settle(index: string, pending: Map<string, readonly ShapedChange[]>): Promise<void> {
    const { client, clock, refresh = false } = this.#options;
    const attempt = async () => {
      const operations = await this.#operations(index, pending);
      const outcomes = await writeInBulk({ client, index, refresh }, operations);
      const refused = outcomes.filter(isRefused);
      const lost = refused.find(({ status }) => status === 404);
      if (lost) throw new Error(`the search index ${index} is gone: ${lost.reason}`);
      if (refused.length > 0)
        await this.#options.onRefused(refused.map(({ operation: { key }, reason }) => ({ key, reason })));
      for (const { operation, status } of outcomes) if (status < 400) pending.delete(operation.id);
      for (const { operation } of refused) {
        // OpenSearch rejects outlines that cross themselves, as many do; the zone must be found nevertheless.
        const changes = pending.get(operation.id) ?? [];
        if (changes.some(({ shape }) => shape !== undefined)) pending.set(operation.id, changes.map(withoutShape));
        else pending.delete(operation.id);
      }
      // After a 409 the document is read again: what another writer made of it mostly leaves nothing to do.
      if (pending.size > 0)
        throw new Unfinished(outcomes.filter(({ status }) => status >= 400).map(({ reason }) => reason));
    };
    await retry(attempt, { attempts: ATTEMPTS, retryable: isPassing, clock });
  }

  /** What is to be written; documents that stay as they are leave `pending`. */
  async #operations(index: string, pending: Map<string, readonly ShapedChange[]>): Promise<BulkOperation[]> {
    const { client, clock } = this.#options;
    const { body } = await client.mget({ index, body: { ids: [...pending.keys()] } });
    const operations: BulkOperation[] = [];
    for (const read of body.docs as unknown as readonly ReadDocument[]) {
      if (read.error) throw new Error(`a document cannot be read: ${read.error.reason ?? 'no reason was given'}`);
      const { _id: id, _source: known, _seq_no: ifSeqNo, _primary_term: ifPrimaryTerm } = read;
      const next = afterChanges(known, pending.get(id) ?? [], clock.wall());
      if (next === known || next === undefined) {
        pending.delete(id);
        continue;
      }
      const action = known
        ? { index: { _id: id, if_seq_no: ifSeqNo, if_primary_term: ifPrimaryTerm } }
        : { create: { _id: id } };
      const { pk, sk } = next;
      operations.push({ id, key: { pk, sk }, lines: `${JSON.stringify(action)}\n${JSON.stringify(next)}\n` });
    }
    return operations;
  }
}

const isRefused = ({ status }: BulkOutcome) => status >= 400 && status !== 409 && !mayPass(status);

const withoutShape = (change: ShapedChange): ShapedChange => ({ ...change, shape: undefined });

/** Whether an attempt may succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof Unfinished) return true;
  const status = statusOf(error);
  return status === undefined ? isConnectionError(error) : mayPass(status);
}
