import { systemClock } from '../clock.js';
import { type HubOptions, type LiveHub, createHub } from '../live/hub.js';
import { openRelay } from '../live/redis.js';
import type { Log } from '../log.js';
import type { ConsumerOptions } from '../stream/consumer.js';
import { openStream } from '../stream/dynamodb.js';
import { followStream, readWholeStream } from '../stream/follower.js';
import type { Backend } from './backend.js';

/** What the consumer tells. */
export type LiveFeed = Required<Pick<ConsumerOptions, 'onRecord' | 'onLoss' | 'onOwnership'>>;

/** Changes as clients are told of them, heard by this process. */
export interface Live {
  readonly hub: LiveHub;
  readonly feed: LiveFeed;
  /** Stops to hear; leaves no connection and no timer. */
  close(): Promise<void>;
}

/** How long the stream may be read for those who were away. */
const READ_BACK_WITHIN_MS = 20_000;

function streamOf({ database, streams }: Backend, log: Log) {
  return { stream: openStream(database, streams), clock: systemClock, keys: database.keys, log };
}

/** Hears from Redis what the one consumer of all servers reads. */
function hearFromRedis(url: string, backend: Backend, hub: LiveHub, log: Log): Live {
  const channel = `cellport:${backend.database.tables.entities}`;
  const relay = openRelay({ url, channel, keys: backend.database.keys, hub, log });
  const feed: LiveFeed = {
    onRecord: (record) => relay.send(record),
    onLoss: () => relay.begin(),
    onOwnership: (owner) => (owner ? relay.begin() : relay.end()),
  };
  return { hub, feed, close: async () => relay.close() };
}

/** Hears from this process' own consumer while that keeps the cells, and reads the stream beside the owner while not. */
function hearFromStream(backend: Backend, hub: LiveHub, log: Log, stopping: AbortController): Live {
  const parts = streamOf(backend, log);
  let ownedSince: number | undefined;
  let following: Promise<void> | undefined;

  function follow(): void {
    following = followStream(
      { ...parts, onRecord: (record) => hub.take(record) },
      {
        onEnd(at) {
          hub.connected();
          // All that was written before the consumer began is read; what it read by then was written before, too.
          return ownedSince === undefined || at <= ownedSince;
        },
        onLoss: (reason) => hub.disconnected(reason),
      },
      stopping.signal,
    ).finally(() => {
      following = undefined;
    });
  }

  follow();
  const feed: LiveFeed = {
    onRecord: (record) => hub.take(record),
    onLoss: (reason) => {
      hub.disconnected(reason);
      // What is read from here on is told again.
      if (following === undefined) hub.connected();
    },
    onOwnership(owner) {
      ownedSince = owner ? parts.clock.now() : undefined;
      if (owner || following !== undefined || stopping.signal.aborted) return;
      hub.disconnected('this server does not keep the cells any more');
      follow();
    },
  };
  return {
    hub,
    feed,
    close: async () => {
      stopping.abort();
      await following;
    },
  };
}

/** Begins to hear of changes: by way of Redis where its URL is given, else from the stream. The tables must be there. */
export function openLive(backend: Backend, redisUrl: string | undefined, log: Log): Live {
  const stopping = new AbortController();
  const readStream: NonNullable<HubOptions['readStream']> = (onRecord) =>
    readWholeStream({ ...streamOf(backend, log), onRecord }, READ_BACK_WITHIN_MS, stopping.signal);
  const hub = createHub({ keys: backend.database.keys, log, now: () => Date.now(), readStream });
  if (redisUrl === undefined) return hearFromStream(backend, hub, log, stopping);
  const live = hearFromRedis(redisUrl, backend, hub, log);
  return {
    ...live,
    close: async () => {
      stopping.abort();
      await live.close();
    },
  };
}
