import type { ConsumerReport } from '../../loaders/consumer-trust.js';
import type { SourceStatus } from '../../model/collection.js';
import { loadStreamState } from '../../store/cell/stream-state.js';
import { newCall, type Call, type Database } from '../../store/database.js';
import { readFailure } from '../../store/source/failure.js';
import { reportOf } from '../../stream/consume/consumer.js';

/** Of GraphQL: 24 days. */
const LARGEST_INT = 2 ** 31 - 1;

/** The name under which the state of a source's consumer is stored. */
export const sourceConsumer = (scope: string): string => `source/${scope}`;

/** What is stored about the consumer of a source; undefined before its first start. */
export async function sourceReport(database: Database, scope: string): Promise<ConsumerReport | undefined> {
  const state = await loadStreamState(newCall(database), sourceConsumer(scope), { consistent: false });
  return state && { ...reportOf(state), gap: state.gap };
}

/** The status of the source with this scope. */
export async function sourceStatus(call: Call, scope: string): Promise<SourceStatus> {
  const consumer = sourceConsumer(scope);
  const [stored, failure] = await Promise.all([
    loadStreamState(call, consumer, { consistent: false }),
    readFailure(call, consumer),
  ]);
  const { pages = null, formerPages = null, published, gap = null, endAt = null, deadLetters = 0 } = stored ?? {};
  const isLater = published && published.endAt > (endAt ?? 0);
  const asOf = pages === null ? (formerPages?.endAt ?? null) : isLater ? published.endAt : endAt;
  const isFilling = (pages ?? formerPages) === null;
  return {
    state: failure !== undefined ? 'FAILED' : isFilling ? 'FILLING' : gap === null ? 'FOLLOWING' : 'GAP',
    reason: failure ?? gap?.reason ?? null,
    asOf,
    behindMs: asOf === null ? null : Math.min(LARGEST_INT, Math.max(0, Math.floor(call.db.clock.wall() - asOf))),
    // Before the first fill, one may be gone that nobody has counted.
    rejected: Math.max(0, deadLetters),
  };
}
