import { systemClock } from '../../src/clock.js';
import type { Engine } from '../../src/engine/start.js';
import { createLog } from '../../src/log.js';
import type { Database } from '../../src/store/database.js';
import { type Consumer, type ConsumerOptions, createConsumer } from '../../src/stream/consumer.js';
import { createStreamsClient, firstSince, openCells, openState, openStream } from '../../src/stream/dynamodb.js';
import { ownName } from '../../src/stream/owners.js';

/** Connection to a DynamoDB Local that the caller manages. */
export type EngineAddress = Omit<Engine, 'close'>;

/** Runs the consumer with the server's settings. */
export function consumerOf(
  database: Database,
  engine: EngineAddress,
  onApplied: NonNullable<ConsumerOptions['onApplied']> = () => undefined,
  onRecord: NonNullable<ConsumerOptions['onRecord']> = () => undefined,
): Consumer {
  return createConsumer({
    stream: openStream(database, createStreamsClient(engine)),
    state: openState(database, 'cells'),
    cells: openCells(database),
    clock: systemClock,
    keys: database.keys,
    log: createLog('warn'),
    self: ownName(),
    since: () => firstSince(database),
    onApplied,
    onRecord,
  });
}
