import { LiveHub, type HubOptions } from '../live/hub.js';
import { Relay, type RelayOptions } from '../live/redis.js';
import type { Log } from '../log.js';
import type { StreamRecord } from '../stream/change.js';
import { followStream, readWholeStream, type Followed, type FollowerOptions } from '../stream/consume/follower.js';
import type { StreamPort } from '../stream/ports.js';
import { openStream } from '../stream/source/dynamodb.js';
import type { StreamBackend } from './backend.js';

/** Callbacks for what the consumer passes on. */
export interface LiveFeed {
  onRecord(record: StreamRecord): void;
  onLoss(reason: string): void;
  onOwnership(owner: boolean): void;
}

/** Passes everything on to several. */
export function feedAll(feeds: readonly (LiveFeed | undefined)[]): LiveFeed {
  return {
    onRecord: (record) => feeds.forEach((feed) => feed?.onRecord(record)),
    onLoss: (reason) => feeds.forEach((feed) => feed?.onLoss(reason)),
    onOwnership: (owner) => feeds.forEach((feed) => feed?.onOwnership(owner)),
  };
}

/** Where changes go: the hub, or what it has of one collection. */
export type Receiver = Pick<LiveHub, 'take' | 'connected' | 'disconnected'>;

/** Where the changes of all collections go. */
export type Hub = Receiver & Pick<LiveHub, 'isHeard' | 'missed'>;

/** How this process receives changes. */
export interface Received {
  readonly feed: LiveFeed;
  /** Begins to read the stream, if changes are wanted and do not arrive otherwise. */
  readonly follow: () => void;
  /** Up to when this process has itself read the stream, lately; oldest first. */
  readonly ends: readonly Followed[];
  /** Stops receiving; leaves no connection or timer behind. */
  readonly close: () => Promise<void>;
}

/** Changes for subscribers, received by this process. */
export interface Live<H extends Hub = Hub> extends Omit<Received, 'follow'> {
  readonly hub: H;
  /** Whether one server sends all others what it reads. */
  readonly isRelayed: boolean;
  /** Receives the changes of another table, named by `scope`, in the same way; reads its stream only while they are wanted. */
  readonly receive: (scope: string, stream: StreamPort, receiver: Receiver, isWanted: () => boolean) => Received;
}

/** Those of some three seconds. */
const MOST_ENDS = 15;
/** Of which a server that takes over with a backlog passes on millions. */
const MOST_EARLY = 20_000;
/** Maximum time to read back the stream for subscribers that resume. */
const READ_BACK_WITHIN_MS = 20_000;

function streamOf({ database, streams }: StreamBackend, log: Log) {
  return { stream: openStream(database, streams), clock: database.clock, keys: database.keys, log };
}

/** Receives changes from Redis, where the server that runs the consumer publishes them. */
function receiveFromRedis(options: RelayOptions): Received {
  const relay = new Relay(options);
  const feed: LiveFeed = {
    onRecord: (record) => relay.send(record),
    onLoss: () => relay.begin(),
    onOwnership: (owner) => (owner ? relay.begin() : relay.end()),
  };
  return { feed, follow: () => undefined, ends: [], close: async () => relay.close() };
}

/** Receives changes from this process's consumer while it holds the lease; otherwise reads the stream itself. */
function receiveFromStream(
  parts: Omit<FollowerOptions, 'onRecord'>,
  hub: Receiver,
  isWanted: () => boolean = () => true,
): Received {
  const stopping = new AbortController();
  let ownedSince: number | undefined;
  let following: Promise<void> | undefined;
  const ends: Followed[] = [];
  /** What the consumer passes on while this process still follows the stream itself, which may have read less. */
  const early: StreamRecord[] = [];

  /** In the order of the stream: of the follower's records, the hub would drop those that come after later ones. */
  function takeEarly(): void {
    for (const record of early.splice(0)) hub.take(record);
  }

  function follow(): void {
    if (following !== undefined || ownedSince !== undefined || stopping.signal.aborted || !isWanted()) return;
    following = followStream(
      { ...parts, onRecord: (record) => hub.take(record) },
      {
        onEnd(at, followed) {
          hub.connected();
          if (ends.push(followed) > MOST_ENDS) ends.shift();
          // Stop once every write from before the takeover has been read: the consumer passes on all later ones.
          return ownedSince === undefined ? isWanted() : at <= ownedSince;
        },
        onLoss(reason) {
          ends.length = 0;
          hub.disconnected(reason);
        },
      },
      stopping.signal,
    ).finally(() => {
      following = undefined;
      ends.length = 0;
      takeEarly();
      if (ownedSince === undefined) hub.disconnected('this server no longer reads the stream');
    });
  }

  const feed: LiveFeed = {
    onRecord(record) {
      early.push(record);
      if (following === undefined) takeEarly();
      if (early.length <= MOST_EARLY) return;
      early.length = 0;
      hub.disconnected('the consumer is ahead of what this server reads of the stream');
    },
    onLoss: (reason) => {
      hub.disconnected(reason);
      // Records read from here on are passed on again.
      if (following === undefined) hub.connected();
    },
    onOwnership(owner) {
      ownedSince = owner ? parts.clock.now() : undefined;
      early.length = 0;
      if (following !== undefined) return;
      if (owner) return hub.connected();
      hub.disconnected('this server no longer holds the lease of the stream consumer');
      follow();
    },
  };
  return {
    feed,
    follow,
    ends,
    close: async () => {
      stopping.abort();
      await following;
    },
  };
}

/** A hub that reads the stream back for clients that ask for earlier changes, until the signal is aborted. */
export function createHub(backend: StreamBackend, log: Log, signal: AbortSignal): LiveHub {
  const { clock, keys } = backend.database;
  const readStream: NonNullable<HubOptions['readStream']> = (onRecord) =>
    readWholeStream({ ...streamOf(backend, log), onRecord }, READ_BACK_WITHIN_MS, signal);
  return new LiveHub({ keys, log, clock, readStream });
}

/** The same as `receiveLive` for a hub of this process. */
export function openLive(backend: StreamBackend, url: string | undefined, log: Log): Live<LiveHub> {
  const stopping = new AbortController();
  const live = receiveLive(backend, url, log, createHub(backend, log, stopping.signal));
  const close = async () => {
    stopping.abort();
    await live.close();
  };
  return { ...live, close };
}

/** Starts receiving changes: through Redis if a URL is given, otherwise from the stream. The tables must exist. */
export function receiveLive<H extends Hub>(backend: StreamBackend, url: string | undefined, log: Log, hub: H): Live<H> {
  const { clock, keys, tables } = backend.database;
  const channel = `cellport:${tables.entities}`;
  const { feed, follow, ends, close } =
    url === undefined
      ? receiveFromStream(streamOf(backend, log), hub)
      : receiveFromRedis({ url, channel, keys, hub, log });
  follow();
  return {
    hub,
    feed,
    ends,
    isRelayed: url !== undefined,
    receive: (scope, stream, receiver, isWanted) =>
      url === undefined
        ? receiveFromStream({ stream, clock, keys, log }, receiver, isWanted)
        : receiveFromRedis({ url, channel: `${channel}:${scope}`, keys, hub: receiver, log }),
    close,
  };
}
