import type { ConsumerReport } from '../loaders/consumer-trust.js';
import { loadStreamState } from '../store/cell/stream-state.js';
import type { Database } from '../store/database.js';
import { newCall } from '../store/request/meter.js';
import { reportOf } from '../stream/consume/consumer.js';

/** The name under which the state of a source's consumer is stored. */
export const sourceConsumer = (scope: string): string => `source/${scope}`;

/** What is stored about the consumer of a source; undefined before its first start. */
export async function sourceReport(database: Database, scope: string): Promise<ConsumerReport | undefined> {
  const state = await loadStreamState(database, sourceConsumer(scope), newCall(), { consistent: false });
  return state && { ...reportOf(state), gap: state.gap };
}
