import type { Keyspace } from '../keys/keyspace.js';
import { explainReads } from './explain-reads.js';
import { type Call, newMeter } from '../store/request/meter.js';

type Headers = Readonly<Record<string, unknown>>;

const COST = 'x-cellport-cost';
const EXPLAIN = 'x-cellport-explain';

/** Most ranges that one answer tells. */
const MOST_READS = 500;

/** Whether a request asks what it costs; `headers` by lower-case name. */
export function asksForCost(headers: Headers): boolean {
  return headers[COST] === '1';
}

/** Whether a request asks which ranges it read. */
export function asksForReads(headers: Headers): boolean {
  return headers[EXPLAIN] === '1';
}

/** A request that was worked on, and the keys of what it read. */
interface Done {
  readonly call: Pick<Call, 'meter' | 'reads'>;
  readonly keys: Keyspace;
}

function readsOf(done: Done | undefined) {
  const reads = done ? explainReads(done.call.reads ?? [], done.keys) : [];
  return { reads: reads.slice(0, MOST_READS), readsLeftOut: Math.max(0, reads.length - MOST_READS) };
}

/**
 * The text of an answer, which has no extensions yet, with those that the request asks for: what DynamoDB reported for it
 * under `cost`, and the ranges it read under `reads`. Nothing was done for a request that failed at the door.
 */
export function withExtensions(body: string, headers: Headers, done?: Done): string {
  const extensions = {
    ...(asksForCost(headers) ? { cost: done?.call.meter ?? newMeter() } : {}),
    ...(asksForReads(headers) ? readsOf(done) : {}),
  };
  if (Object.keys(extensions).length === 0) return body;
  // Not parsed for it: a map asks for the cost of each of its answers, and some are long.
  return `${body.slice(0, body.lastIndexOf('}'))},"extensions":${JSON.stringify(extensions)}}\n`;
}
