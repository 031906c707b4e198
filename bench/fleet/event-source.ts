import { setTimeout as sleep } from 'node:timers/promises';

import { readConfig } from '../../src/config.js';
import type { EngineAddress } from '../../src/engine/start.js';
import { createHandler, type StreamEvent } from '../../src/lambda/stream.js';
import type { Database } from '../../src/store/database.js';
import type { StreamRecord } from '../../src/stream/change.js';
import { createStreamsClient, openStream } from '../../src/stream/source/dynamodb.js';

const POLL_MS = 100;

type EventRecord = NonNullable<StreamEvent['Records']>[number];

const eventRecord = ({ sequence, event, at }: StreamRecord): EventRecord => ({
  eventName: event,
  dynamodb: { ApproximateCreationDateTime: at / 1_000, SequenceNumber: sequence },
});

/**
 * Calls the Lambda handler with what is written from now on, as an event source mapping does: shard by shard, in order, and
 * again from the record at which it reports a failure. Returns a function that stops it.
 */
export async function startEventSource(database: Database, engine: EngineAddress): Promise<() => Promise<void>> {
  const client = createStreamsClient(engine);
  const port = openStream(database, client);
  const config = readConfig({}, { CELLPORT_LOG: 'silent', AWS_REGION: engine.region });
  const stream = await port.identify();
  const stop = new AbortController();

  type Handler = ReturnType<typeof createHandler>;
  async function deliver(handler: Handler, records: readonly EventRecord[]): Promise<void> {
    for (let rest = records; rest.length > 0;) {
      const { batchItemFailures } = await handler({ Records: rest });
      const again = batchItemFailures[0]?.itemIdentifier;
      rest =
        again === undefined ? [] : rest.slice(rest.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === again));
    }
  }

  async function follow(shard: string): Promise<void> {
    const handler = createHandler(config, () => ({ database, streams: client }));
    let iterator: string | undefined = await port.openShard(stream, shard, { type: 'newest' });
    while (iterator !== undefined && !stop.signal.aborted) {
      const { records, next } = await port.readRecords(iterator);
      await deliver(handler, records.map(eventRecord));
      iterator = next;
      if (records.length === 0) await sleep(POLL_MS);
    }
  }

  // DynamoDB Local begins a shard every four hours: none is added during a benchmark.
  const { shards } = await port.listShards(stream, undefined);
  const following = shards.map(({ id }) => follow(id));
  return async () => {
    stop.abort();
    await Promise.all(following);
    client.destroy();
  };
}
