import type { Keyspace } from '../keys/keyspace.js';
import { explainReads } from './explain-reads.js';
import { type Call, newMeter } from '../store/request/meter.js';

type Headers = Readonly<Record<string, unknown>>;

const COST = 'x-cellport-cost';
const EXPLAIN = 'x-cellport-explain';

/** Maximum number of ranges in one response. */
const MAX_READS = 500;

/** Whether a request asks for its cost; `headers` has lower-case names. */
export function asksForCost(headers: Headers): boolean {
  return headers[COST] === '1';
}

/** Whether a request asks for the ranges that it reads. */
export function asksForReads(headers: Headers): boolean {
  return headers[EXPLAIN] === '1';
}

/** Removes both headers from a request. */
export function asksForNothing(headers: Record<string, unknown>): void {
  delete headers[COST];
  delete headers[EXPLAIN];
}

/** A request that was executed, and the key convention of what it read. */
interface Executed {
  readonly call: Pick<Call, 'meter' | 'reads' | 'pages'>;
  readonly keys: Keyspace;
}

function readsOf(done: Executed | undefined) {
  const { reads = [], pages = [] } = done?.call ?? {};
  const explained = done ? explainReads(reads, done.keys, pages) : [];
  return {
    reads: explained.slice(0, MAX_READS),
    readsLeftOut: Math.max(0, explained.length - MAX_READS),
    pages: pages.slice(0, MAX_READS).map(({ bounds, markers }) => ({ bounds, markers })),
  };
}

/**
 * The JSON of a response with the requested extensions: `cost` is what DynamoDB charged, `reads` the ranges it read,
 * `pages` the pages of markers that it used. `done` is undefined for a request that failed before it was executed.
 */
export function withExtensions(body: string, headers: Headers, done?: Executed): string {
  const extensions = {
    ...(asksForCost(headers) ? { cost: done?.call.meter ?? newMeter() } : {}),
    ...(asksForReads(headers) ? readsOf(done) : {}),
  };
  if (Object.keys(extensions).length === 0) return body;
  // Spliced in without parsing: a map requests the cost of each response, and some responses are long.
  return `${body.slice(0, body.lastIndexOf('}'))},"extensions":${JSON.stringify(extensions)}}\n`;
}
