import { LiveHub, type HubOptions } from '../live/hub.js';
import { Relay } from '../live/redis.js';
import type { Log } from '../log.js';
import type { StreamRecord } from '../stream/change.js';
import { followStream, readWholeStream } from '../stream/consume/follower.js';
import { openStream } from '../stream/source/dynamodb.js';
import type { StreamBackend } from './backend.js';

/** Callbacks for what the consumer passes on. */
export interface LiveFeed {
  onRecord(record: StreamRecord): void;
  onLoss(reason: string): void;
  onOwnership(owner: boolean): void;
}

/** Changes for subscribers, received by this process. */
export interface Live {
  readonly hub: LiveHub;
  readonly feed: LiveFeed;
  /** Stops receiving; leaves no connection or timer behind. */
  close(): Promise<void>;
}

/** Maximum time to read back the stream for subscribers that resume. */
const READ_BACK_WITHIN_MS = 20_000;

function streamOf({ database, streams }: StreamBackend, log: Log) {
  return { stream: openStream(database, streams), clock: database.clock, keys: database.keys, log };
}

/** Receives changes from Redis, where the server that runs the consumer publishes them. */
function receiveFromRedis(url: string, backend: StreamBackend, hub: LiveHub, log: Log): Live {
  const channel = `cellport:${backend.database.tables.entities}`;
  const relay = new Relay({ url, channel, keys: backend.database.keys, hub, log });
  const feed: LiveFeed = {
    onRecord: (record) => relay.send(record),
    onLoss: () => relay.begin(),
    onOwnership: (owner) => (owner ? relay.begin() : relay.end()),
  };
  return { hub, feed, close: async () => relay.close() };
}

/** Receives changes from this process's consumer while it holds the lease; otherwise reads the stream itself. */
function receiveFromStream(backend: StreamBackend, hub: LiveHub, log: Log, stopping: AbortController): Live {
  const parts = streamOf(backend, log);
  let ownedSince: number | undefined;
  let following: Promise<void> | undefined;

  function follow(): void {
    following = followStream(
      { ...parts, onRecord: (record) => hub.take(record) },
      {
        onEnd(at) {
          hub.connected();
          // Stop once every write from before the takeover has been read: the consumer passes on all later ones.
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
      // Records read from here on are passed on again.
      if (following === undefined) hub.connected();
    },
    onOwnership(owner) {
      ownedSince = owner ? parts.clock.now() : undefined;
      if (owner || following !== undefined || stopping.signal.aborted) return;
      hub.disconnected('this server no longer holds the lease of the stream consumer');
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

/** Starts receiving changes: through Redis if a URL is given, otherwise from the stream. The tables must exist. */
export function openLive(backend: StreamBackend, redisUrl: string | undefined, log: Log): Live {
  const { database } = backend;
  const stopping = new AbortController();
  const readStream: NonNullable<HubOptions['readStream']> = (onRecord) =>
    readWholeStream({ ...streamOf(backend, log), onRecord }, READ_BACK_WITHIN_MS, stopping.signal);
  const hub = new LiveHub({ keys: database.keys, log, now: () => database.clock.wall(), readStream });
  if (redisUrl === undefined) return receiveFromStream(backend, hub, log, stopping);
  const live = receiveFromRedis(redisUrl, backend, hub, log);
  return {
    ...live,
    close: async () => {
      stopping.abort();
      await live.close();
    },
  };
}
