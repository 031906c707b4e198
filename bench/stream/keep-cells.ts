import type { EngineAddress } from '../../src/engine/start.js';
import { createLog } from '../../src/log-output.js';
import type { Database } from '../../src/store/database.js';
import { Consumer, type ConsumerOptions } from '../../src/stream/consume/consumer.js';
import { consumerParts } from '../../src/stream/consume/derived-ports.js';
import { createStreamsClient } from '../../src/stream/source/dynamodb.js';

/** A consumer with the server's settings. */
export function consumerOf(
  database: Database,
  engine: EngineAddress,
  onApplied: NonNullable<ConsumerOptions['onApplied']> = () => undefined,
  onRecord: NonNullable<ConsumerOptions['onRecord']> = () => undefined,
): Consumer {
  return new Consumer({
    ...consumerParts({ database, streams: createStreamsClient(engine) }, createLog('warn')),
    onApplied,
    onRecord,
  });
}
